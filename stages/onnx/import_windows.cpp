#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stages/onnx/onnx_importer.hpp"

namespace graphline {

std::optional<extent_pair> pair_of(const onnx_importer& in, std::string_view attribute,
                                   bool one_dimension) {
  const auto given = in.integers(attribute);
  if (!given) return {};
  if (given->size() != (one_dimension ? 1U : 2U)) {
    onnx_importer::refuse(fmt::format("{} has {} numbers", attribute, given->size()));
  }
  if (one_dimension) return extent_pair{1, (*given)[0]};
  return extent_pair{(*given)[0], (*given)[1]};
}

window_attributes window_of(const onnx_importer& in, const shape& images, const extent_pair& kernel,
                            bool one_dimension, bool transposed) {
  window_attributes window{.kernel = kernel};
  window.stride = pair_of(in, "strides", one_dimension).value_or(window.stride);
  window.dilation = pair_of(in, "dilations", one_dimension).value_or(window.dilation);
  for (const extent_pair& pair : {window.kernel, window.stride, window.dilation}) {
    in.require(pair[0] > 0 && pair[1] > 0, "kernel, strides and dilations must be at least 1");
  }
  const std::string automatic = in.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET") {
    const auto pads = in.integers("pads");
    if (!pads) return window;
    in.require(pads->size() == (one_dimension ? 2U : 4U), "pads has another number of dimensions");
    in.require(std::ranges::all_of(*pads, [](std::int64_t pad) { return pad >= 0; }),
               "pads must not be negative");
    if (one_dimension) {
      window.before = {0, (*pads)[0]};
      window.after = {0, (*pads)[1]};
    } else {
      window.before = {(*pads)[0], (*pads)[1]};
      window.after = {(*pads)[2], (*pads)[3]};
    }
    return window;
  }
  if (automatic == "VALID" || transposed) return window;
  in.require(automatic == "SAME_UPPER" || automatic == "SAME_LOWER", "an unknown auto_pad");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t size = images[axis + 2];
    const std::int64_t outputs = (size + window.stride[axis] - 1) / window.stride[axis];
    const std::int64_t covered = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    const std::int64_t padding =
        std::max<std::int64_t>((outputs - 1) * window.stride[axis] + covered - size, 0);
    window.before[axis] = automatic == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
    window.after[axis] = padding - window.before[axis];
  }
  return window;
}

namespace {

using function = pointwise_function;
using reduced_by = reduce_layer::reduction;

std::vector<std::size_t> axes_from(std::size_t first, std::size_t rank) {
  std::vector<std::size_t> axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

/// A pool over one or two dimensions.
std::size_t pool(onnx_importer& in, pooling method) {
  const shape extents = in.extents(0);
  const bool one_dimension = extents.rank() == 3;
  in.require(one_dimension || extents.rank() == 4,
             "pools over one or two dimensions are supported");
  const auto kernel = pair_of(in, "kernel_shape", one_dimension);
  in.require(kernel.has_value(), "kernel_shape is missing");
  in.require(in.integer("storage_order", 0) == 0, "a storage order by columns is not supported");
  std::size_t x = in.value(0);
  if (one_dimension) x = in.add_reshape(x, {extents[0], extents[1], 1, extents[2]});
  const window_attributes window = window_of(in, in.shape_of(x), *kernel, one_dimension);
  const bool ceil = in.integer("ceil_mode", 0) != 0;
  const bool counts = in.integer("count_include_pad", 0) != 0;
  in.require(!(ceil && counts && window.before != window.after),
             "ceil_mode with unequal pads that count is not supported");
  in.require(method == pooling::max || window.dilation == extent_pair{1, 1},
             "an average over elements that lie apart is not supported");
  const std::size_t given = in.add(pool2d_layer{.method = method,
                                                .kernel = window.kernel,
                                                .stride = window.stride,
                                                .padding = window.before,
                                                .padding_after = window.after,
                                                .dilation = window.dilation,
                                                .count_include_pad = counts,
                                                .ceil_mode = ceil},
                                   {x});
  if (!one_dimension) return given;
  const shape& pooled = in.shape_of(given);
  return in.add_reshape(given, {pooled[0], pooled[1], pooled[3]});
}

std::size_t import_global_average(onnx_importer& in) {
  if (in.rank(0) == 4) return in.add(adaptive_avg_pool2d_layer{{1, 1}}, {in.value(0)});
  in.require(in.rank(0) > 2, "reads nothing beside batch and channels");
  return in.add(reduce_layer{reduced_by::mean, axes_from(2, in.rank(0))}, {in.value(0)});
}

std::size_t import_global_max(onnx_importer& in) {
  in.require(in.rank(0) > 2, "reads nothing beside batch and channels");
  return in.add(reduce_layer{reduced_by::max, axes_from(2, in.rank(0))}, {in.value(0)});
}

/// Sums of x or of a function of it, and a function of them.
std::size_t import_reduce(onnx_importer& in, reduced_by how, std::optional<function> before,
                          std::optional<function> after) {
  const std::size_t rank = in.rank(0);
  const auto given = in.integers("axes", 1);
  std::vector<std::size_t> axes;
  if (given && !given->empty()) {
    for (const std::int64_t axis : *given) axes.push_back(in.axis(axis, rank));
  } else if (in.integer("noop_with_empty_axes", 0) == 0) {
    axes = axes_from(0, rank);
  }
  std::size_t x = in.value(0);
  if (before == function::mul) {
    x = in.add_pointwise(function::mul, {x, x});
  } else if (before) {
    x = in.add_pointwise(*before, {x});
  }
  const bool keeps = in.integer("keepdims", 1) != 0;
  if (!axes.empty()) x = in.add(reduce_layer{how, std::move(axes), keeps}, {x});
  return after ? in.add_pointwise(*after, {x}) : x;
}

onnx_operator imported_reduction(reduced_by how, std::optional<function> before = {},
                                 std::optional<function> after = {}) {
  return one_output([=](onnx_importer& in) { return import_reduce(in, how, before, after); });
}

/// Before operator set 13 all dimensions from one on are taken together.
template <class Add>
std::size_t normalize_along(onnx_importer& in, const Add& add) {
  const shape extents = in.extents(0);
  const std::size_t axis = in.axis(in.integer("axis", in.opset() < 13 ? 1 : -1), extents.rank());
  if (in.opset() >= 13 || axis + 1 == extents.rank()) return add(in.value(0), axis);
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < axis; ++i) rows *= extents[i];
  const std::size_t x = in.add_reshape(in.value(0), {rows, extents.elements() / rows});
  return in.add_reshape(add(x, 1), extents);
}

std::size_t import_softmax(onnx_importer& in) {
  return normalize_along(in, [&](std::size_t x, std::size_t axis) {
    return in.add(softmax_layer{static_cast<std::int64_t>(axis)}, {x});
  });
}

/// x - max - log(sum(exp(x - max))), which keeps what a softmax would round to 0.
std::size_t import_log_softmax(onnx_importer& in) {
  return normalize_along(in, [&](std::size_t x, std::size_t axis) {
    const std::size_t largest = in.add(reduce_layer{reduced_by::max, {axis}}, {x});
    const std::size_t shifted = in.add_pointwise(function::sub, {x, largest});
    const std::size_t powers = in.add_pointwise(function::exp, {shifted});
    const std::size_t sum = in.add(reduce_layer{reduced_by::sum, {axis}}, {powers});
    const std::size_t logarithm = in.add_pointwise(function::log, {sum});
    return in.add_pointwise(function::sub, {shifted, logarithm});
  });
}

std::size_t import_batch_normalization(onnx_importer& in) {
  in.require(in.integer("training_mode", 0) == 0, "training is not supported");
  in.require(in.integer("spatial", 1) == 1, "statistics for each position are not supported");
  const shape extents = in.extents(0);
  in.require(extents.rank() >= 2, "reads no channels");
  std::vector<std::size_t> weights;
  for (std::size_t i = 1; i < 5; ++i) {
    in.constant(i, "a statistic");
    weights.push_back(in.value(i));
  }
  std::int64_t pixels = 1;
  for (std::size_t i = 2; i < extents.rank(); ++i) pixels *= extents[i];
  std::size_t x = in.value(0);
  if (extents.rank() != 4) x = in.add_reshape(x, {extents[0], extents[1], pixels, 1});
  const batch_norm2d_layer norm{static_cast<double>(in.number("epsilon", 1e-5F))};
  return in.add_reshape(in.add(norm, {x}, weights), extents);
}

/// Rows of x by their own mean and variance.
std::size_t normalize_rows(onnx_importer& in, std::size_t x, std::int64_t extent, float epsilon,
                           std::vector<float> scale, std::vector<float> bias) {
  const std::size_t rows = in.add_reshape(x, {in.shape_of(x).elements() / extent, extent});
  const std::vector<std::size_t> weights{in.add_constant(std::move(scale), {extent}),
                                         in.add_constant(std::move(bias), {extent})};
  return in.add(layer_norm_layer{static_cast<double>(epsilon)}, {rows}, weights);
}

std::size_t import_layer_normalization(onnx_importer& in) {
  in.require(in.node().outputs.size() == 1, "mean and deviation as outputs are not supported");
  const shape extents = in.extents(0);
  const std::size_t axis = in.axis(in.integer("axis", -1), extents.rank());
  std::int64_t extent = 1;
  for (std::size_t i = axis; i < extents.rank(); ++i) extent *= extents[i];
  const std::vector<float> scale = in.floats(1, "the scale");
  const auto count = static_cast<std::size_t>(extent);
  const std::vector<float> bias =
      in.has(2) ? in.floats(2, "the bias") : std::vector<float>(count, 0.0F);
  in.require(scale.size() == count && bias.size() == count,
             "a scale that broadcasts is not supported");
  const std::size_t rows =
      normalize_rows(in, in.value(0), extent, in.number("epsilon", 1e-5F), scale, bias);
  return in.add_reshape(rows, extents);
}

/// [N, C, ...] by groups of neighboring channels, then a scale and a bias for each channel.
std::size_t normalize_groups(onnx_importer& in, std::int64_t groups) {
  const shape extents = in.extents(0);
  in.require(extents.rank() > 2 && groups > 0 && extents[1] % groups == 0,
             "the channels cannot be divided into that many groups");
  const std::int64_t extent = extents.elements() / extents[0] / groups;
  const auto count = static_cast<std::size_t>(extent);
  const std::size_t rows =
      normalize_rows(in, in.value(0), extent, in.number("epsilon", 1e-5F),
                     std::vector<float>(count, 1.0F), std::vector<float>(count, 0.0F));
  const std::size_t whole = in.add_reshape(rows, extents);
  std::vector<std::int64_t> channels(extents.rank() - 1, 1);
  channels[0] = extents[1];
  const auto per_channel = [&](std::size_t input, const char* what) {
    std::vector<float> values = in.floats(input, what);
    // Operator set 18 has one number for each group.
    if (static_cast<std::int64_t>(values.size()) == groups) {
      std::vector<float> repeated;
      for (const float value : values) {
        repeated.insert(repeated.end(), static_cast<std::size_t>(extents[1] / groups), value);
      }
      values = std::move(repeated);
    }
    in.require(static_cast<std::int64_t>(values.size()) == extents[1],
               "the scale does not fit the channels");
    return in.add_constant(std::move(values), shape(channels));
  };
  const std::size_t scaled = in.add_pointwise(function::mul, {whole, per_channel(1, "the scale")});
  return in.add_pointwise(function::add, {scaled, per_channel(2, "the bias")});
}

/// x / (bias + alpha / size times the sum of squares of neighboring channels)^beta.
std::size_t import_local_response_normalization(onnx_importer& in) {
  const shape extents = in.extents(0);
  const std::int64_t size = in.integer("size", 0);
  in.require(extents.rank() == 4 && size > 0, "reads [N, C, H, W] and a size from 1 on");
  const std::size_t x = in.value(0);
  const std::size_t squares = in.add_reshape(in.add_pointwise(function::mul, {x, x}),
                                             {extents[0], 1, extents[1], extents[2] * extents[3]});
  const std::size_t means =
      in.add(pool2d_layer{.method = pooling::average,
                          .kernel = {size, 1},
                          .stride = {1, 1},
                          .padding = {(size - 1) / 2, 0},
                          .padding_after = extent_pair{size - 1 - (size - 1) / 2, 0}},
             {squares});
  const auto number = [&](float value) { return in.add_constant({value}, {}); };
  const std::size_t weighed = in.add_pointwise(
      function::mul, {in.add_reshape(means, extents), number(in.number("alpha", 1e-4F))});
  const std::size_t sum =
      in.add_pointwise(function::add, {weighed, number(in.number("bias", 1.0F))});
  const std::size_t power =
      in.add_pointwise(function::pow, {sum, number(in.number("beta", 0.75F))});
  return in.add_pointwise(function::div, {x, power});
}

}  // namespace

onnx_operators onnx_windows() {
  return {
      {"AveragePool", one_output([](onnx_importer& in) { return pool(in, pooling::average); })},
      {"BatchNormalization", one_output(import_batch_normalization)},
      {"GlobalAveragePool", one_output(import_global_average)},
      {"GlobalMaxPool", one_output(import_global_max)},
      {"GroupNormalization", one_output([](onnx_importer& in) {
         return normalize_groups(in, in.integer("num_groups", 0));
       })},
      {"InstanceNormalization", one_output([](onnx_importer& in) {
         in.require(in.rank(0) > 1, "reads no channels");
         return normalize_groups(in, in.extents(0)[1]);
       })},
      {"LRN", one_output(import_local_response_normalization)},
      {"LayerNormalization", one_output(import_layer_normalization)},
      {"LogSoftmax", one_output(import_log_softmax)},
      {"MaxPool", one_output([](onnx_importer& in) { return pool(in, pooling::max); })},
      {"ReduceL1", imported_reduction(reduced_by::sum, function::abs)},
      {"ReduceL2", imported_reduction(reduced_by::sum, function::mul, function::sqrt)},
      {"ReduceLogSum", imported_reduction(reduced_by::sum, {}, function::log)},
      {"ReduceLogSumExp", imported_reduction(reduced_by::sum, function::exp, function::log)},
      {"ReduceMax", imported_reduction(reduced_by::max)},
      {"ReduceMean", imported_reduction(reduced_by::mean)},
      {"ReduceMin", imported_reduction(reduced_by::min)},
      {"ReduceProd", imported_reduction(reduced_by::product)},
      {"ReduceSum", imported_reduction(reduced_by::sum)},
      {"ReduceSumSquare", imported_reduction(reduced_by::sum, function::mul)},
      {"Softmax", one_output(import_softmax)},
  };
}

}  // namespace graphline
