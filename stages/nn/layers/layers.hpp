#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "stages/nn/layers/layer_kind.hpp"
#include "stages/nn/layers/shape_rules.hpp"

namespace graphline::nn {

// Return the kinds of layers of a family. The file named after the family defines the function.
std::vector<layer_kind> product_kinds();
std::vector<layer_kind> element_wise_kinds();
std::vector<layer_kind> pooling_kinds();
std::vector<layer_kind> resizing_kinds();
std::vector<layer_kind> tensor_kinds();

// Shape rule and cost of each operation, in the file of the operation's family.
#define GRAPHLINE_INFER(layer) layer_shape infer(const layer&, layer_inputs, layer_problems&);
GRAPHLINE_INFER(pointwise_layer)
GRAPHLINE_INFER(batch_norm2d_layer)
GRAPHLINE_LOWERED_LAYERS(GRAPHLINE_INFER)
#undef GRAPHLINE_INFER

// Functions that the families share: parameters, and arithmetic on sizes without overflow.

/// Largest value of a size parameter, because vendor libraries use 32-bit indices.
inline constexpr double largest_size = 2147483647;

/// Makes a parameter that takes one number or a pair [h, w].
parameter pair_parameter(std::string name, std::string help,
                         std::optional<std::string> default_value, double minimum);

/// Makes a required parameter that takes an integer of at least 1.
parameter size_parameter(std::string name, std::string help);

parameter kernel_parameter(std::string help);
parameter boolean_parameter(std::string name, std::string help, std::string default_value);

/// Returns the value of a pair parameter; a single number counts twice. Reports an error for more
/// than two numbers.
extent_pair read_pair(const arguments& values, std::string_view name, layer_problems& problems);
std::array<double, 2> read_number_pair(const arguments& values, std::string_view name,
                                       layer_problems& problems);

/// Returns the product of non-negative factors, at most `largest_count`. `define_network` refuses a
/// count at this limit, and sums of a few counts stay within 64 bits.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 57;
std::int64_t count_of(std::initializer_list<std::int64_t> factors);
std::int64_t count_of(const shape& s);

/// Returns the cost of an operation without MACs from its FLOPs per element of `out`.
cost element_cost(const shape& out, std::int64_t flops_per_output);

/// Returns shape and cost of a product with a weight [outputs, ...] and, if `bias`, a bias per
/// output. Weights are uniform in +-sqrt(3 / fan in): with their variance of 1 / fan in, outputs
/// have the variance of the inputs. The bias is drawn as PyTorch's default.
layer_shape product_shape(shape output, const shape& weight, bool bias);

/// Returns a shape with another extent along one axis.
shape with_extent(const shape& s, std::size_t axis, std::int64_t extent);

/// Returns the shape of a reduction over these axes, which have extent 1 with `keep_dims`.
shape reduced_shape(const shape& s, const std::vector<std::size_t>& axes, bool keep_dims);

/// Refuses an input that is not [N, C, H, W].
void expect_images(const layer_input& input, layer_problems& problems);

/// Returns output height and width for a window over [N, C, H, W], by the formulas of
/// torch.nn.Conv2d and torch.nn.MaxPool2d. Refuses a window that is larger than the padded input.
extent_pair window_output(const layer_input& input, const pool2d_layer& window,
                          layer_problems& problems);

/// Returns `dim` counted from the front. Refuses one out of range.
std::size_t resolve_dim(std::int64_t dim, const layer_input& input, std::string_view parameter,
                        layer_problems& problems);

}  // namespace graphline::nn
