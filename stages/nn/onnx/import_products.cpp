#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

/// Refuses a product of x [..., k] with a constant that does not have k rows.
void require_product(const onnx_call& node, const shape& x, std::int64_t k, std::int64_t rows) {
  if (k == rows) return;
  node.refuse(fmt::format("multiplies {} by {}, whose extents do not fit", to_string(x),
                          to_string(node.extents(1))));
}

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

/// Returns the weight of a convolution over images; merges the depth into the channels.
std::size_t weight_of(onnx_importer& to, const onnx_call& node, std::size_t dimensions) {
  const shape& s = node.input(1).extents;
  node.require(s.rank() == node.extents(0).rank(), "has a weight of other dimensions than x");
  if (dimensions == 1) return to.add_weight(1, node.floats(1), {s[0], s[1], 1, s[2]});
  if (dimensions == 2) return to.value(1);
  return to.add_weight(1, node.floats(1), {s[0], s[1] * s[2], s[3], s[4]});
}

/// Views [N, C, D, H, W] as one image per window position along the depth. An image has the
/// channels of all planes in its window: [N * positions, C * kernel, H, W].
std::size_t add_planes(onnx_importer& to, const onnx_call& node, std::size_t value,
                       const window_attributes& window) {
  const shape s = to.shape_of(value);
  const std::int64_t kernel = window.kernel[0];
  const std::int64_t room =
      s[2] + window.before[0] + window.after[0] - window.dilation[0] * (kernel - 1) - 1;
  node.require(room >= 0, "has a kernel that is larger than the padded input");
  const std::int64_t places = room / window.stride[0] + 1;
  node.charge(shape{places, kernel});
  node.charge(shape{s[2] + window.before[0] + window.after[0]});
  std::vector<std::int64_t> padded;
  for (std::int64_t i = -window.before[0]; i < s[2] + window.after[0]; ++i) {
    padded.push_back(i >= 0 && i < s[2] ? i : outside);
  }
  std::vector<std::int64_t> under;
  for (std::int64_t place = 0; place < places; ++place) {
    for (std::int64_t i = 0; i < kernel; ++i) {
      under.push_back(place * window.stride[0] + i * window.dilation[0]);
    }
  }
  std::size_t x = to.add_selection(value, {{2, std::move(padded)}});
  x = to.add_selection(x, {{2, std::move(under)}});
  x = to.add_reshape(x, {s[0], s[1], places, kernel, s[3], s[4]});
  x = to.add(transpose_layer{{0, 2, 1, 3, 4, 5}}, {x});
  return to.add_reshape(x, {s[0] * places, s[1] * kernel, s[3], s[4]});
}

template <class Layer>
std::size_t add_convolution(onnx_importer& to, const onnx_call& node, const window_images& read,
                            Layer layer, std::size_t weight) {
  std::vector<std::size_t> weights{weight};
  layer.bias = node.has(2);
  if (layer.bias) {
    node.input(2);  // refuses a bias computed by the network
    weights.push_back(to.value(2));
  }
  return add_as_given(to, to.add(layer, {read.value}, weights), read.dimensions);
}

std::int64_t groups_of(const onnx_call& node) {
  const std::int64_t groups = node.integer("group", 1);
  node.require(groups > 0, "has fewer groups than one");
  return groups;
}

/// Returns true if images of one column have windows of one column.
bool is_column(const shape& images, const window_attributes& window) {
  return images.rank() == 4 && images[3] == 1 && images[2] > 1 && window.kernel[2] == 1 &&
         window.before[2] == 0 && window.after[2] == 0;
}

std::size_t import_conv(onnx_importer& to, const onnx_call& node) {
  window_images read = images_of(to, node);
  const shape& w = node.input(1).extents;
  node.require(w.rank() == node.extents(0).rank(), "has a weight of other dimensions than x");
  window_attributes window = window_of(node, window_extents(w, read.dimensions));
  const bool column = is_column(node.extents(0), window);
  if (column) {  // becomes a row, as with one dimension: oneDNN is slow with columns
    const shape& x = node.extents(0);
    read.value = to.add_reshape(read.value, {x[0], x[1], 1, x[2]});
    for (extent_triple* of :
         {&window.kernel, &window.stride, &window.before, &window.after, &window.dilation}) {
      std::swap((*of)[1], (*of)[2]);
    }
  }
  const std::size_t weight = column ? to.add_weight(1, node.floats(1), {w[0], w[1], 1, w[2]})
                                    : weight_of(to, node, read.dimensions);
  if (read.dimensions == 3) read.value = add_planes(to, node, read.value, window);
  conv2d_layer layer{.out_channels = w[0], .groups = groups_of(node)};
  set_window(layer, window);
  const std::size_t given = add_convolution(to, node, read, layer, weight);
  const shape s = to.shape_of(given);
  if (column) return to.add_reshape(given, {s[0], s[1], s[3], 1});
  if (read.dimensions < 3) return given;
  const std::int64_t batch = node.extents(0)[0];
  const std::size_t apart = to.add_reshape(given, {batch, s[0] / batch, s[1], s[2], s[3]});
  return to.add(transpose_layer{{0, 2, 1, 3, 4}}, {apart});
}

/// Crops a result that is larger than the requested output size. An odd extra element is cropped at
/// the start, or at the end for SAME_UPPER. A smaller result gets zeros at the end. They and
/// `output_padding` are stated as negative padding.
std::size_t import_conv_transpose(onnx_importer& to, const onnx_call& node) {
  const window_images read = images_of(to, node);
  node.require(read.dimensions < 3, "goes over three dimensions, which is not supported");
  const std::size_t weight = weight_of(to, node, read.dimensions);
  const shape extents = to.shape_of(weight);
  const shape input = to.shape_of(read.value);
  const std::int64_t groups = groups_of(node);
  node.require(input[1] % groups == 0 && extents[0] == input[1],
               "has a weight that does not fit x and the groups");
  window_attributes window = window_of(node, {1, extents[2], extents[3]}, /*transposed=*/true);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  extent_triple added = triple_of(node, "output_padding").value_or(extent_triple{});
  if (read.dimensions == 1) added[1] = 0;
  std::optional<extent_triple> wanted = triple_of(node, "output_shape");
  const bool stated = wanted.has_value();
  if (!stated && automatic.starts_with("SAME")) {
    wanted = extent_triple{1, input[2] * window.stride[1], input[3] * window.stride[2]};
  }
  for (std::size_t axis = 1; axis < 3; ++axis) {
    const std::int64_t covered = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    const std::int64_t whole = (input[axis + 1] - 1) * window.stride[axis] + covered + added[axis];
    if (wanted) {
      const std::int64_t padding = std::max<std::int64_t>(whole - (*wanted)[axis], 0);
      window.before[axis] = automatic == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
      window.after[axis] = padding - window.before[axis];
      if (stated) window.after[axis] += std::min<std::int64_t>(whole - (*wanted)[axis], 0);
    }
    window.after[axis] -= added[axis];
  }
  conv_transpose2d_layer layer{.out_channels = extents[1] * groups, .groups = groups};
  set_window(layer, window);
  return add_convolution(to, node, read, layer, weight);
}

/// Multiplies x of any rank by the node's input 1, a constant matrix [n, k]. If `bias` is not
/// empty, adds the node's input 2, a bias [n].
std::size_t add_linear(onnx_importer& to, std::size_t x, const std::vector<float>& weight,
                       std::int64_t n, const std::vector<float>& bias) {
  const shape extents = to.shape_of(x);
  const std::int64_t k = extents[extents.rank() - 1];
  std::vector<std::size_t> weights{to.add_weight(1, weight, {n, k})};
  const bool has_bias = !bias.empty();
  if (has_bias) weights.push_back(to.add_weight(2, bias, {n}));
  return to.add(linear_layer{.out_features = n, .bias = has_bias, .any_rank = true}, {x}, weights);
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
  require_product(node, to.shape_of(a), to.shape_of(a)[1], k);

  if (node.is_constant(1) && k > 0) {
    std::vector<float> weight = node.floats(1);
    if (!transpose_b) weight = transposed(weight, k, n);
    for (float& value : weight) value *= alpha;
    if (!node.has(2)) return add_linear(to, a, weight, n, {});
    // c contains one number per column, or one number for all columns.
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
    require_product(node, a, a[a.rank() - 1], b[0]);
    return add_linear(to, to.value(0), transposed(node.floats(1), b[0], b[1]), b[1], {});
  }
  // Treat a vector as a matrix with one row or column, and drop that dimension from the result.
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

}  // namespace graphline::nn::onnx
