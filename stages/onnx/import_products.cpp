#include <fmt/format.h>

#include "stages/onnx/onnx_importer.hpp"

namespace graphline {
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

/// [N, C, length] is seen as [N, C, 1, length].
shape with_height(const shape& s) {
  return {s[0], s[1], 1, s[2]};
}
shape without_height(const shape& s) {
  return {s[0], s[1], s[3]};
}

/// What a convolution of one or two dimensions reads: always as one of two.
struct images {
  std::size_t value = 0;
  bool one_dimension = false;
};

images images_of(onnx_importer& in) {
  const std::size_t rank = in.rank(0);
  if (rank != 3 && rank != 4) {
    in.refuse(fmt::format("reads {} dimensions; one or two beside batch and channels are supported",
                          rank));
  }
  const std::size_t value = in.value(0);
  if (rank == 4) return {value, false};
  return {in.add_reshape(value, with_height(in.extents(0))), true};
}

std::size_t weight_of(onnx_importer& in, const images& read) {
  in.constant(1, "the weight");
  const shape& given = in.extents(1);
  in.require(given.rank() == in.rank(0), "the weight has another number of dimensions than x");
  if (!read.one_dimension) return in.value(1);
  return in.add_constant(in.floats(1, "the weight"), with_height(given));
}

/// Adds a convolution of either kind to what the node reads.
template <class Layer>
std::size_t add_convolution(onnx_importer& in, const images& read, Layer layer,
                            std::size_t weight) {
  std::vector<std::size_t> weights{weight};
  layer.bias = in.has(2);
  if (layer.bias) {
    in.constant(2, "the bias");
    weights.push_back(in.value(2));
  }
  const std::size_t given = in.add(layer, {read.value}, weights);
  return read.one_dimension ? in.add_reshape(given, without_height(in.shape_of(given))) : given;
}

std::size_t import_conv(onnx_importer& in) {
  const images read = images_of(in);
  const std::size_t weight = weight_of(in, read);
  const shape& extents = in.shape_of(weight);
  const window_attributes window =
      window_of(in, in.shape_of(read.value), {extents[2], extents[3]}, read.one_dimension);
  conv2d_layer layer{.out_channels = extents[0],
                     .kernel = window.kernel,
                     .stride = window.stride,
                     .padding = window.before,
                     .padding_after = window.after,
                     .dilation = window.dilation,
                     .groups = in.integer("group", 1)};
  in.require(layer.groups > 0, "group must be at least 1");
  return add_convolution(in, read, layer, weight);
}

/// Elements that `output_padding` adds at the end are padding that is not taken away there.
std::size_t import_conv_transpose(onnx_importer& in) {
  const images read = images_of(in);
  const std::size_t weight = weight_of(in, read);
  const shape& extents = in.shape_of(weight);
  const shape& input = in.shape_of(read.value);
  const std::string automatic = in.text("auto_pad", "NOTSET");
  window_attributes window =
      window_of(in, input, {extents[2], extents[3]}, read.one_dimension, /*transposed=*/true);
  const std::int64_t groups = in.integer("group", 1);
  in.require(groups > 0 && input[1] % groups == 0 && extents[0] == input[1],
             "the weight does not fit x and group");

  const auto pair = [&](std::string_view attribute) {
    return pair_of(in, attribute, read.one_dimension);
  };
  const extent_pair added = pair("output_padding").value_or(extent_pair{0, 0});
  std::optional<extent_pair> wanted = pair("output_shape");
  if (!wanted && automatic.starts_with("SAME")) {
    wanted = extent_pair{input[2] * window.stride[0], input[3] * window.stride[1]};
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t covered = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    const std::int64_t whole = (input[axis + 2] - 1) * window.stride[axis] + covered + added[axis];
    if (wanted && !(read.one_dimension && axis == 0)) {
      const std::int64_t padding = whole - (*wanted)[axis];
      const bool more_after = automatic == "SAME_UPPER" || automatic == "NOTSET";
      window.before[axis] = more_after ? padding / 2 : padding - padding / 2;
      window.after[axis] = padding - window.before[axis];
    }
    window.after[axis] -= added[axis];
  }
  return add_convolution(in, read,
                         conv_transpose2d_layer{.out_channels = extents[1] * groups,
                                                .kernel = window.kernel,
                                                .stride = window.stride,
                                                .padding = window.before,
                                                .padding_after = window.after,
                                                .dilation = window.dilation,
                                                .groups = groups},
                         weight);
}

/// x times a constant matrix [k, n], and a bias of n numbers or none, whatever the rank of x.
std::size_t add_linear(onnx_importer& in, std::size_t x, std::vector<float> weight, std::int64_t n,
                       std::vector<float> bias) {
  const shape extents = in.shape_of(x);
  const std::int64_t k = extents[extents.rank() - 1];
  const shape rows = as_rows(extents);
  std::vector<std::size_t> weights{in.add_constant(std::move(weight), {n, k})};
  const bool has_bias = !bias.empty();
  if (has_bias) weights.push_back(in.add_constant(std::move(bias), {n}));
  const bool as_it_is = extents.rank() == 2 || extents.rank() == 3;
  const std::size_t read = as_it_is ? x : in.add_reshape(x, rows);
  const std::size_t given =
      in.add(linear_layer{.out_features = n, .bias = has_bias}, {read}, weights);
  std::vector<std::int64_t> result = extents.extents();
  result.back() = n;
  return in.add_reshape(given, shape(std::move(result)));
}

std::size_t import_gemm(onnx_importer& in) {
  const bool transpose_a = in.integer("transA", 0) != 0;
  const bool transpose_b = in.integer("transB", 0) != 0;
  const float alpha = in.number("alpha", 1.0F);
  const float beta = in.number("beta", 1.0F);
  in.require(in.rank(0) == 2 && in.rank(1) == 2, "multiplies matrices");
  std::size_t a = in.value(0);
  if (transpose_a) a = in.add(transpose_layer{{1, 0}}, {a});
  const shape& b = in.extents(1);
  const std::int64_t k = b[transpose_b ? 1 : 0];
  const std::int64_t n = b[transpose_b ? 0 : 1];
  in.require(in.shape_of(a)[1] == k, "the extents of A and B do not fit");

  if (in.is_constant(1) && k > 0) {
    std::vector<float> weight = in.floats(1, "B");
    if (!transpose_b) weight = transposed(weight, k, n);
    for (float& value : weight) value *= alpha;
    if (!in.has(2)) return add_linear(in, a, std::move(weight), n, {});
    if (in.is_constant(2) &&
        (in.extents(2).elements() == 1 ||
         (in.rank(2) > 0 && in.extents(2)[in.rank(2) - 1] == n && in.extents(2).elements() == n))) {
      std::vector<float> bias = in.floats(2, "C");
      if (bias.size() == 1) bias.resize(static_cast<std::size_t>(n), bias[0]);
      for (float& value : bias) value *= beta;
      return add_linear(in, a, std::move(weight), n, std::move(bias));
    }
  }
  std::size_t right = in.value(1);
  if (transpose_b) right = in.add(transpose_layer{{1, 0}}, {right});
  std::size_t result = in.add(matmul_layer{}, {a, right});
  const auto scaled = [&](std::size_t value, float factor) {
    if (factor == 1) return value;
    return in.add_pointwise(pointwise_function::mul, {value, in.add_constant({factor}, {})});
  };
  result = scaled(result, alpha);
  if (!in.has(2)) return result;
  return in.add_pointwise(pointwise_function::add, {result, scaled(in.value(2), beta)});
}

std::size_t import_matmul(onnx_importer& in) {
  const shape a = in.extents(0);
  const shape b = in.extents(1);
  in.require(a.rank() > 0 && b.rank() > 0, "multiplies no single numbers");
  if (in.is_constant(1) && b.rank() == 2 && a.rank() >= 2 && b.elements() > 0) {
    in.require(a[a.rank() - 1] == b[0], "the extents of A and B do not fit");
    return add_linear(in, in.value(0), transposed(in.floats(1, "B"), b[0], b[1]), b[1], {});
  }
  // A vector is a matrix of one row or one column, which the result does not have.
  std::size_t left = in.value(0);
  std::size_t right = in.value(1);
  if (a.rank() == 1) left = in.add_reshape(left, {1, a[0]});
  if (b.rank() == 1) right = in.add_reshape(right, {b[0], 1});
  const std::size_t product = in.add(matmul_layer{}, {left, right});
  std::vector<std::int64_t> extents = in.shape_of(product).extents();
  if (b.rank() == 1) extents.pop_back();
  if (a.rank() == 1) extents.erase(extents.end() - (b.rank() == 1 ? 1 : 2));
  return in.add_reshape(product, shape(std::move(extents)));
}

}  // namespace

onnx_operators onnx_products() {
  return {
      {"Conv", one_output(import_conv)},
      {"ConvTranspose", one_output(import_conv_transpose)},
      {"Gemm", one_output(import_gemm)},
      {"MatMul", one_output(import_matmul)},
  };
}

}  // namespace graphline
