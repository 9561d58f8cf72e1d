#include <optional>

#include "stages/onnx/onnx_importer.hpp"

namespace graphline::onnx {
namespace {

/// A matrix with its extents exchanged.
std::vector<float> transposed(const std::vector<float>& from, std::int64_t rows,
                              std::int64_t columns) {
  std::vector<float> to(from.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) {
      to[static_cast<std::size_t>(k * rows + i)] = from[static_cast<std::size_t>(i * columns + k)];
    }
  }
  return to;
}

/// The weight of a convolution: as of one over images.
std::size_t weight_of(onnx_importer& to, const onnx_call& node, bool one_dimension) {
  const onnx_tensor& weight = node.input(1);
  const shape& s = weight.extents;
  node.require(s.rank() == node.extents(0).rank(), "has a weight of other dimensions than x");
  if (!one_dimension) return to.value(1);
  return to.add_constant(node.floats(1), {s[0], s[1], 1, s[2]});
}

/// Adds a convolution of either kind to what the node reads.
template <class Layer>
std::size_t add_convolution(onnx_importer& to, const onnx_call& node, const window_images& read,
                            Layer layer, std::size_t weight) {
  std::vector<std::size_t> weights{weight};
  layer.bias = node.has(2);
  if (layer.bias) {
    node.input(2);  // refuses a bias that is computed
    weights.push_back(to.value(2));
  }
  return add_as_given(to, to.add(layer, {read.value}, weights), read.one_dimension);
}

std::int64_t groups_of(const onnx_call& node) {
  const std::int64_t groups = node.integer("group", 1);
  node.require(groups > 0, "has fewer groups than one");
  return groups;
}

std::size_t import_conv(onnx_importer& to, const onnx_call& node) {
  const window_images read = images_of(to, node);
  const std::size_t weight = weight_of(to, node, read.one_dimension);
  const shape& extents = to.shape_of(weight);
  const window_attributes window =
      window_of(node, to.shape_of(read.value), {extents[2], extents[3]}, read.one_dimension);
  const conv2d_layer layer{.out_channels = extents[0],
                           .kernel = window.kernel,
                           .stride = window.stride,
                           .padding = window.before,
                           .padding_after = window.after,
                           .dilation = window.dilation,
                           .groups = groups_of(node)};
  return add_convolution(to, node, read, layer, weight);
}

/// Elements that `output_padding` adds at the end are padding that is not taken away there.
std::size_t import_conv_transpose(onnx_importer& to, const onnx_call& node) {
  const window_images read = images_of(to, node);
  const std::size_t weight = weight_of(to, node, read.one_dimension);
  const shape extents = to.shape_of(weight);
  const shape input = to.shape_of(read.value);
  const std::int64_t groups = groups_of(node);
  node.require(input[1] % groups == 0 && extents[0] == input[1],
               "has a weight that does not fit x and the groups");
  window_attributes window =
      window_of(node, input, {extents[2], extents[3]}, read.one_dimension, /*transposed=*/true);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const extent_pair none = {read.one_dimension ? 1 : 0, 0};
  extent_pair added = pair_of(node, "output_padding", read.one_dimension).value_or(none);
  if (read.one_dimension) added[0] = 0;
  std::optional<extent_pair> wanted = pair_of(node, "output_shape", read.one_dimension);
  if (!wanted && automatic.starts_with("SAME")) {
    wanted = extent_pair{input[2] * window.stride[0], input[3] * window.stride[1]};
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t covered = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    const std::int64_t whole = (input[axis + 2] - 1) * window.stride[axis] + covered + added[axis];
    if (wanted) {
      const std::int64_t padding = whole - (*wanted)[axis];
      const bool more_after = automatic == "SAME_UPPER" || automatic == "NOTSET";
      window.before[axis] = more_after ? padding / 2 : padding - padding / 2;
      window.after[axis] = padding - window.before[axis];
    }
    window.after[axis] -= added[axis];
  }
  const conv_transpose2d_layer layer{.out_channels = extents[1] * groups,
                                     .kernel = window.kernel,
                                     .stride = window.stride,
                                     .padding = window.before,
                                     .padding_after = window.after,
                                     .dilation = window.dilation,
                                     .groups = groups};
  return add_convolution(to, node, read, layer, weight);
}

/// x times a constant matrix [k, n], and a bias of n numbers or none, whatever the rank of x.
std::size_t add_linear(onnx_importer& to, std::size_t x, const std::vector<float>& weight,
                       std::int64_t n, const std::vector<float>& bias) {
  const shape extents = to.shape_of(x);
  const std::int64_t k = extents[extents.rank() - 1];
  const shape rows = as_rows(extents);
  std::vector<std::size_t> weights{to.add_constant(weight, {n, k})};
  const bool has_bias = !bias.empty();
  if (has_bias) weights.push_back(to.add_constant(bias, {n}));
  const bool as_it_is = extents.rank() == 2 || extents.rank() == 3;
  const std::size_t read = as_it_is ? x : to.add_reshape(x, rows);
  const std::size_t given =
      to.add(linear_layer{.out_features = n, .bias = has_bias}, {read}, weights);
  std::vector<std::int64_t> result = extents.extents();
  result.back() = n;
  return to.add_reshape(given, shape(std::move(result)));
}

std::size_t import_gemm(onnx_importer& to, const onnx_call& node) {
  const bool transpose_a = node.integer("transA", 0) != 0;
  const bool transpose_b = node.integer("transB", 0) != 0;
  const float alpha = node.number("alpha", 1.0F);
  const float beta = node.number("beta", 1.0F);
  node.require(node.extents(0).rank() == 2 && node.extents(1).rank() == 2,
               "multiplies matrices alone");
  std::size_t a = to.value(0);
  if (transpose_a) a = to.add(transpose_layer{{1, 0}}, {a});
  const shape& b = node.extents(1);
  const std::int64_t k = b[transpose_b ? 1 : 0];
  const std::int64_t n = b[transpose_b ? 0 : 1];
  node.require(to.shape_of(a)[1] == k, "has matrices whose extents do not fit");

  if (node.is_constant(1) && k > 0) {
    std::vector<float> weight = node.floats(1);
    if (!transpose_b) weight = transposed(weight, k, n);
    for (float& value : weight) value *= alpha;
    if (!node.has(2)) return add_linear(to, a, weight, n, {});
    // A row, or one number for all columns.
    const shape& c = node.extents(2);
    const bool row = c.rank() > 0 && c[c.rank() - 1] == n && c.elements() == n;
    if (node.is_constant(2) && (row || c.elements() == 1)) {
      std::vector<float> bias = node.floats(2);
      if (bias.size() == 1) bias.resize(static_cast<std::size_t>(n), bias[0]);
      for (float& value : bias) value *= beta;
      return add_linear(to, a, weight, n, bias);
    }
  }
  std::size_t right = to.value(1);
  if (transpose_b) right = to.add(transpose_layer{{1, 0}}, {right});
  std::size_t result = to.add(matmul_layer{}, {a, right});
  const auto scaled = [&](std::size_t value, float factor) {
    if (factor == 1) return value;
    return to.add_pointwise(pointwise_function::mul, {value, to.add_number(factor)});
  };
  result = scaled(result, alpha);
  if (!node.has(2)) return result;
  return to.add_pointwise(pointwise_function::add, {result, scaled(to.value(2), beta)});
}

std::size_t import_matmul(onnx_importer& to, const onnx_call& node) {
  const shape a = node.extents(0);
  const shape b = node.extents(1);
  node.require(a.rank() > 0 && b.rank() > 0, "cannot multiply single numbers");
  if (node.is_constant(1) && b.rank() == 2 && a.rank() >= 2 && b.elements() > 0) {
    node.require(a[a.rank() - 1] == b[0], "has matrices whose extents do not fit");
    return add_linear(to, to.value(0), transposed(node.floats(1), b[0], b[1]), b[1], {});
  }
  // A vector is a matrix of one row or one column, which the result does not have.
  std::size_t left = to.value(0);
  std::size_t right = to.value(1);
  if (a.rank() == 1) left = to.add_reshape(left, {1, a[0]});
  if (b.rank() == 1) right = to.add_reshape(right, {b[0], 1});
  const std::size_t product = to.add(matmul_layer{}, {left, right});
  std::vector<std::int64_t> extents = to.shape_of(product).extents();
  if (b.rank() == 1) extents.pop_back();
  if (a.rank() == 1) extents.erase(extents.end() - (b.rank() == 1 ? 1 : 2));
  return to.add_reshape(product, shape(std::move(extents)));
}

}  // namespace

onnx_operators imported_products() {
  return {
      {"Conv", one_output(import_conv)},
      {"ConvTranspose", one_output(import_conv_transpose)},
      {"Gemm", one_output(import_gemm)},
      {"MatMul", one_output(import_matmul)},
  };
}

}  // namespace graphline::onnx
