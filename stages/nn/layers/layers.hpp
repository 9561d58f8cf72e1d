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

// The kinds of layers, each defined in the file of its family.

// products.cpp
layer_kind conv2d_kind();
layer_kind conv_transpose2d_kind();
layer_kind linear_kind();
layer_kind attention_kind();

// elementwise.cpp
layer_kind gelu_kind();
layer_kind leaky_relu_kind();
layer_kind activation_kind(activation function, std::string headline);
layer_kind pointwise_kind(std::string name, std::string headline, pointwise_layer layer);
layer_kind operands_kind(std::string name, std::string headline, pointwise_function function);
layer_kind add_kind();
layer_kind flatten_kind();
layer_kind softmax_kind();
layer_kind batch_norm2d_kind();
layer_kind layer_norm_kind();

// pooling.cpp
layer_kind max_pool2d_kind();
layer_kind avg_pool2d_kind();
layer_kind adaptive_avg_pool2d_kind();

// tensors.cpp
layer_kind reshape_kind();
layer_kind permute_kind();
layer_kind slice_kind();
layer_kind zero_pad2d_kind();
layer_kind concat_kind();

// resizing.cpp
layer_kind upsample_kind();

// The shape rule of each operation, likewise.

layer_shape infer(const conv2d_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const linear_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const attention_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const activation_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const add_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const flatten_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const softmax_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const batch_norm2d_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const layer_norm_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const pool2d_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const adaptive_avg_pool2d_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const pointwise_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const conv_transpose2d_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const matmul_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const concat_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const slice_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const pad_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const transpose_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const reshape_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const expand_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const reduce_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const resize2d_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const gather_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const take_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const convert_layer&, std::span<const layer_input>, layer_problems&);
layer_shape infer(const lstm_layer&, std::span<const layer_input>, layer_problems&);

// What their definitions share: parameters, and arithmetic on sizes that must not overflow.

/// Largest value of a size parameter: what fits the 32-bit indices of vendors' libraries.
inline constexpr double largest_size = 2147483647;

/// A parameter that holds one number or a pair [h, w].
parameter pair_parameter(std::string name, std::string help,
                         std::optional<std::string> default_value, double minimum);

/// A required parameter for a count, from 1 on.
parameter size_parameter(std::string name, std::string help);

/// A required `kernel`: one number or a pair.
parameter kernel_parameter(std::string help);

/// The value of a pair: one number counts for both. Reports when there are more than two.
extent_pair read_pair(const arguments& values, std::string_view name, layer_problems& problems);
std::array<double, 2> read_number_pair(const arguments& values, std::string_view name,
                                       layer_problems& problems);

/// The product of factors that are not negative, or the largest count where it is more, which
/// `define_network` refuses: sums of a few such stay within 64 bits.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 57;
std::int64_t count_of(std::initializer_list<std::int64_t> factors);
std::int64_t count_of(const shape& s);

/// Cost of work without MACs, with that many FLOPs for each element of `out`.
cost element_cost(const shape& out, std::int64_t flops_per_output);

/// What follows for a product of the input with a weight, whose first extent is that of the
/// outputs, and a bias, one for each of these, if there is one. +-sqrt(3 / fan in) has a variance
/// of 1 / fan in, which keeps that of the values. The bias is PyTorch's default.
layer_shape product_shape(shape output, const shape& weight, bool bias);

/// Whether the input is [N, C, H, W]; reports when it is not.
bool expect_images(const layer_input& input, layer_problems& problems);

/// Output height and width of a window over [N, C, H, W]; reports a window larger than the padded
/// input and answers nothing.
std::optional<extent_pair> window_output(const layer_input& input, const pool2d_layer& window,
                                         layer_problems& problems);

/// `dim` counted from the front for a tensor of that rank; reports one that does not exist.
std::optional<std::size_t> resolve_dim(std::int64_t dim, const layer_input& input,
                                       std::string_view parameter, layer_problems& problems);

}  // namespace graphline::nn
