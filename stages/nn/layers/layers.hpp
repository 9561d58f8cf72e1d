#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "stages/nn/layers/layer_kind.hpp"
#include "stages/nn/layers/shape_rules.hpp"

namespace graphline::nn {

// The kinds of layers that YAML may name, by family. Each function is defined in the file named
// after its family.
std::vector<layer_kind> product_kinds();
std::vector<layer_kind> element_wise_kinds();
std::vector<layer_kind> pooling_kinds();
std::vector<layer_kind> resizing_kinds();
std::vector<layer_kind> tensor_kinds();

// Each operation has its shape rule and cost in the file of its family.
#define GRAPHLINE_INFER(layer) \
  layer_shape infer(const layer&, std::span<const layer_input>, layer_problems&);
GRAPHLINE_INFER(pointwise_layer)
GRAPHLINE_INFER(batch_norm2d_layer)
GRAPHLINE_LOWERED_LAYERS(GRAPHLINE_INFER)
#undef GRAPHLINE_INFER

// Shared by the families: parameters, and arithmetic on sizes that must not overflow.

/// Largest value of a size parameter: vendor libraries use 32-bit indices.
inline constexpr double largest_size = 2147483647;

/// One number or a pair [h, w].
parameter pair_parameter(std::string name, std::string help,
                         std::optional<std::string> default_value, double minimum);

/// A required count of at least 1.
parameter size_parameter(std::string name, std::string help);

/// A required `kernel`: a number or a pair.
parameter kernel_parameter(std::string help);

/// The value of a pair; a single number counts for both. Reports more than two numbers.
extent_pair read_pair(const arguments& values, std::string_view name, layer_problems& problems);
std::array<double, 2> read_number_pair(const arguments& values, std::string_view name,
                                       layer_problems& problems);

/// The product of non-negative factors, saturated at `largest_count`, which `define_network`
/// refuses; sums of a few such products stay within 64 bits.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 57;
std::int64_t count_of(std::initializer_list<std::int64_t> factors);
std::int64_t count_of(const shape& s);

/// Cost of work without MACs: FLOPs per element of `out`.
cost element_cost(const shape& out, std::int64_t flops_per_output);

/// Shape and cost of a product with a weight whose first extent is that of the outputs, and a bias
/// per output if `bias`. Uniform weights in +-sqrt(3 / fan in) have variance 1 / fan in, which
/// preserves that of the values. The bias is PyTorch's default.
layer_shape product_shape(shape output, const shape& weight, bool bias);

/// Whether the input is [N, C, H, W]; reports if not.
bool expect_images(const layer_input& input, layer_problems& problems);

/// Output height and width of a window over [N, C, H, W]; reports a window larger than the padded
/// input and returns empty.
std::optional<extent_pair> window_output(const layer_input& input, const pool2d_layer& window,
                                         layer_problems& problems);

/// `dim` counted from the front. If it is out of range, reports that and returns empty.
std::optional<std::size_t> resolve_dim(std::int64_t dim, const layer_input& input,
                                       std::string_view parameter, layer_problems& problems);

}  // namespace graphline::nn
