#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/onnx/onnx_importer.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn::onnx {

/// Limit of window attributes. Products of two attributes fit into 64 bits; libraries use 32-bit
/// indices.
constexpr std::int64_t most_of_window = 2147483647;

window_images images_of(onnx_importer& to, const onnx_call& node) {
  const shape& s = node.extents(0);
  node.require(s.rank() >= 3 && s.rank() <= 5,
               "goes over other than one to three dimensions beside batch and channels, which is "
               "not supported");
  node.require(std::ranges::max(s.extents()) <= most_of_window, "has an extent beyond 2^31 - 1");
  if (s.rank() > 3) return {to.value(0), s.rank() - 2};
  return {to.add_reshape(to.value(0), {s[0], s[1], 1, s[2]}), 1};
}

std::size_t add_as_given(onnx_importer& to, std::size_t images, std::size_t dimensions) {
  if (dimensions > 1) return images;
  const shape s = to.shape_of(images);
  return to.add_reshape(images, {s[0], s[1], s[3]});
}

extent_triple window_extents(const shape& extents, std::size_t dimensions) {
  extent_triple result{1, 1, 1};
  std::copy(extents.extents().end() - static_cast<std::ptrdiff_t>(dimensions),
            extents.extents().end(), result.end() - static_cast<std::ptrdiff_t>(dimensions));
  return result;
}

std::optional<extent_triple> triple_of(const onnx_call& node, std::string_view attribute) {
  const auto given = node.integers(attribute);
  if (!given) return {};
  const std::size_t dimensions = node.extents(0).rank() - 2;
  if (given->size() != dimensions) {
    node.refuse(fmt::format("has {} numbers as its '{}'", given->size(), attribute));
  }
  const auto [least, most] = std::ranges::minmax(*given);
  node.require(least >= 0 && most <= most_of_window,
               "has a number of its window that is not from 0 to 2^31 - 1");
  return window_extents(shape(*given), dimensions);
}

window_attributes window_of(const onnx_call& node, const extent_triple& kernel, bool transposed) {
  window_attributes window{.kernel = kernel};
  window.stride = triple_of(node, "strides").value_or(window.stride);
  window.dilation = triple_of(node, "dilations").value_or(window.dilation);
  for (const extent_triple& numbers : {window.kernel, window.stride, window.dilation}) {
    const auto [least, most] = std::ranges::minmax(numbers);
    node.require(least > 0 && most <= most_of_window,
                 "has a kernel, stride or dilation that is not from 1 to 2^31 - 1");
  }
  const std::size_t dimensions = node.extents(0).rank() - 2;
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET") {
    const auto pads = node.integers("pads");
    if (!pads) return window;
    node.require(pads->size() == 2 * dimensions, "needs two pads per dimension");
    const auto [least, most] = std::ranges::minmax(*pads);
    node.require(least >= 0 && most <= most_of_window, "has pads that are not from 0 to 2^31 - 1");
    for (std::size_t i = 0; i < dimensions; ++i) {
      window.before[3 - dimensions + i] = (*pads)[i];
      window.after[3 - dimensions + i] = (*pads)[dimensions + i];
    }
    return window;
  }
  if (automatic == "VALID" || transposed) return window;
  node.require(automatic == "SAME_UPPER" || automatic == "SAME_LOWER",
               "has an auto_pad that is not known");
  const extent_triple sizes = window_extents(node.extents(0), dimensions);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t outputs = (sizes[axis] + window.stride[axis] - 1) / window.stride[axis];
    const std::int64_t covered = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    const std::int64_t padding =
        std::max<std::int64_t>((outputs - 1) * window.stride[axis] + covered - sizes[axis], 0);
    window.before[axis] = automatic == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
    window.after[axis] = padding - window.before[axis];
  }
  return window;
}

namespace {

using function = pointwise_function;
using reduced_by = reduce_layer::reduction;

/// Pools three dimensions in two steps with the same result: height and width, then depth.
std::size_t import_pool(pooling method, onnx_importer& to, const onnx_call& node) {
  const window_images read = images_of(to, node);
  const auto kernel = triple_of(node, "kernel_shape");
  node.require(kernel.has_value(), "lacks its kernel_shape");
  node.require(node.integer("storage_order", 0) == 0, "stores by columns, which is not supported");
  const window_attributes window = window_of(node, *kernel);
  const bool ceil = node.integer("ceil_mode", 0) != 0;
  const bool counts = node.integer("count_include_pad", 0) != 0;
  node.require(!(ceil && counts && window.before != window.after),
               "has ceil_mode with unequal pads that count, which is not supported");
  const bool apart = window.dilation != extent_triple{1, 1, 1};
  node.require(method == pooling::max || !apart,
               "averages elements that lie apart, which is not supported");
  // With an auto_pad of SAME, ONNX Runtime ignores dilation.
  node.require(!(apart && node.text("auto_pad", "NOTSET").starts_with("SAME")),
               "takes elements that lie apart with an auto_pad of SAME, which is not supported; "
               "state its 'pads'");
  pool2d_layer pool{.method = method, .count_include_pad = counts, .ceil_mode = ceil};
  set_window(pool, window);
  if (read.dimensions < 3) return add_as_given(to, to.add(pool, {read.value}), read.dimensions);

  const shape s = node.extents(0);
  const std::size_t planes = to.add_reshape(read.value, {s[0], s[1] * s[2], s[3], s[4]});
  const std::size_t smaller = to.add(pool, {planes});
  const std::int64_t height = to.shape_of(smaller)[2];
  const std::int64_t width = to.shape_of(smaller)[3];
  set_window(pool, {.kernel = {1, window.kernel[0], 1},
                    .stride = {1, window.stride[0], 1},
                    .dilation = {1, window.dilation[0], 1},
                    .before = {0, window.before[0], 0},
                    .after = {0, window.after[0], 0}});
  const std::size_t given =
      to.add(pool, {to.add_reshape(smaller, {s[0], s[1], s[2], height * width})});
  // Count the FLOPs of a single pass over each window, as in the model as written.
  const std::int64_t elements = to.shape_of(given).elements();
  const std::int64_t covered = count_of({elements, (*kernel)[0], (*kernel)[1], (*kernel)[2]});
  node.require(covered < largest_count, "goes over more elements than can be counted");
  to.set_flops(smaller, 0);
  to.set_flops(given, covered - (method == pooling::max ? elements : 0));
  return to.add_reshape(given, {s[0], s[1], to.shape_of(given)[2], height, width});
}

std::size_t import_global_pool(reduced_by how, onnx_importer& to, const onnx_call& node) {
  const std::size_t rank = node.extents(0).rank();
  if (how == reduced_by::mean && rank == 4) {
    return to.add(adaptive_avg_pool2d_layer{{1, 1}}, {to.value(0)});
  }
  node.require(rank > 2, "has nothing beside batch and channels");
  std::vector<std::size_t> axes(rank - 2);
  std::iota(axes.begin(), axes.end(), std::size_t{2});
  return to.add(reduce_layer{how, std::move(axes)}, {to.value(0)});
}

/// Makes an operator that applies `before`, if set, then a reduction, then `after`, if set.
onnx_operator imported_reduction(reduced_by how, std::optional<function> before = {},
                                 std::optional<function> after = {}) {
  return one_output([=](onnx_importer& to, const onnx_call& node) {
    std::size_t x = to.value(0);
    if (before == function::mul) {
      x = to.add_pointwise(function::mul, {x, x});
    } else if (before) {
      x = to.add_pointwise(*before, {x});
    }
    const bool keeps = node.integer("keepdims", 1) != 0;
    const std::vector<std::size_t> axes = reduced_axes(node);
    if (how == reduced_by::mean && is_whole(node.type(0).element) && !axes.empty()) {  // truncates
      const std::int64_t elements = to.shape_of(x).elements();
      x = to.add(reduce_layer{reduced_by::sum, axes, keeps}, {x});
      const auto count = static_cast<float>(elements / to.shape_of(x).elements());
      return to.add_pointwise(function::quotient, {x, to.add_number(count)});
    }
    if (!axes.empty()) x = to.add(reduce_layer{how, axes, keeps}, {x});
    return after ? to.add_pointwise(*after, {x}) : x;
  });
}

/// Computes log(sum(exp(x - m))) + m. Here m is the maximum of x, clamped to finite numbers.
std::size_t import_reduce_log_sum_exp(onnx_importer& to, const onnx_call& node) {
  const bool keeps = node.integer("keepdims", 1) != 0;
  const std::vector<std::size_t> axes = reduced_axes(node);
  if (axes.empty()) return to.value(0);
  constexpr float most = std::numeric_limits<float>::max();
  const std::size_t x = to.value(0);
  const std::size_t largest = to.add_pointwise(
      function::clip, {to.add(reduce_layer{reduced_by::max, axes}, {x})}, -most, most);
  const std::size_t shifted = to.add_pointwise(function::sub, {x, largest});
  const std::size_t powers = to.add_pointwise(function::exp, {shifted});
  const std::size_t sum = to.add(reduce_layer{reduced_by::sum, axes}, {powers});
  const std::size_t logarithm = to.add_pointwise(function::log, {sum});
  const std::size_t whole = to.add_pointwise(function::add, {logarithm, largest});
  return to.add_reshape(whole, reduced_shape(node.extents(0), axes, keeps));
}

/// Normalizes along the axis. Before operator set 13, ONNX merges all dimensions from the axis on.
template <class Add>
std::size_t normalize_along(onnx_importer& to, const onnx_call& node, const Add& add) {
  const shape extents = node.extents(0);
  const std::size_t axis =
      node.axis(node.integer("axis", to.opset() < 13 ? 1 : -1), extents.rank());
  if (to.opset() >= 13 || axis + 1 == extents.rank()) return add(to.value(0), axis);
  const std::int64_t rows = extents_along(extents.extents(), axis).outer;
  const std::size_t x = to.add_reshape(to.value(0), {rows, extents.elements() / rows});
  return to.add_reshape(add(x, 1), extents);
}

std::size_t import_softmax(onnx_importer& to, const onnx_call& node) {
  return normalize_along(to, node, [&](std::size_t x, std::size_t axis) {
    return to.add(softmax_layer{static_cast<std::int64_t>(axis)}, {x});
  });
}

/// Computes x - max - log(sum(exp(x - max))). This stays exact where the softmax would round to 0.
std::size_t import_log_softmax(onnx_importer& to, const onnx_call& node) {
  return normalize_along(to, node, [&](std::size_t x, std::size_t axis) {
    const std::size_t largest = to.add(reduce_layer{reduced_by::max, {axis}}, {x});
    const std::size_t shifted = to.add_pointwise(function::sub, {x, largest});
    const std::size_t powers = to.add_pointwise(function::exp, {shifted});
    const std::size_t sum = to.add(reduce_layer{reduced_by::sum, {axis}}, {powers});
    const std::size_t logarithm = to.add_pointwise(function::log, {sum});
    return to.add_pointwise(function::sub, {shifted, logarithm});
  });
}

/// Normalizes rows of x by their mean and variance.
std::size_t normalize_rows(onnx_importer& to, std::size_t x, std::int64_t extent, float epsilon,
                           const std::vector<std::size_t>& weights) {
  const std::size_t rows = to.add_reshape(x, {to.shape_of(x).elements() / extent, extent});
  return to.add(layer_norm_layer{static_cast<double>(epsilon)}, {rows}, weights);
}

std::size_t import_layer_normalization(onnx_importer& to, const onnx_call& node) {
  const shape extents = node.extents(0);
  const std::size_t axis = node.axis(node.integer("axis", -1), extents.rank());
  const auto [outer, along, inner] = extents_along(extents.extents(), axis);
  const std::int64_t extent = along * inner;
  const bool has_bias = node.has(2);
  node.require(node.input(1).extents.elements() == extent &&
                   (!has_bias || node.input(2).extents.elements() == extent),
               "has a scale that broadcasts, which is not supported");
  const std::vector<std::size_t> weights{
      to.add_weight(1, node.floats(1), {extent}),
      has_bias ? to.add_weight(2, node.floats(2), {extent}) : to.add_number(0, {extent})};
  const std::size_t rows =
      normalize_rows(to, to.value(0), extent, node.number("epsilon", 1e-5F), weights);
  return to.add_reshape(rows, extents);
}

/// Normalizes groups of adjacent channels of [N, C, ...], then scales and shifts each channel.
std::size_t normalize_groups(onnx_importer& to, const onnx_call& node, std::int64_t groups) {
  const shape extents = node.extents(0);
  node.require(extents.rank() > 2 && groups > 0 && extents[1] % groups == 0,
               "has channels that its groups do not divide");
  const std::int64_t extent = extents.elements() / extents[0] / groups;
  node.charge(shape{extent});
  const std::size_t rows = normalize_rows(to, to.value(0), extent, node.number("epsilon", 1e-5F),
                                          {to.add_number(1, {extent}), to.add_number(0, {extent})});
  const std::size_t whole = to.add_reshape(rows, extents);
  const auto per_channel = [&](std::size_t input) {
    std::vector<float> values = node.floats(input);
    // In operator set 18, scale and bias contain one number per group.
    if (static_cast<std::int64_t>(values.size()) == groups) {
      std::vector<float> repeated;
      for (const float value : values) {
        repeated.insert(repeated.end(), static_cast<std::size_t>(extents[1] / groups), value);
      }
      values = std::move(repeated);
    }
    node.require(static_cast<std::int64_t>(values.size()) == extents[1],
                 "has a scale that does not fit its channels");
    return to.add_weight(input, values, first_of(extents[1], extents.rank() - 1));
  };
  const std::size_t scaled = to.add_pointwise(function::mul, {whole, per_channel(1)});
  return to.add_pointwise(function::add, {scaled, per_channel(2)});
}

std::size_t import_batch_normalization(onnx_importer& to, const onnx_call& node) {
  node.require(node.integer("spatial", 1) == 1,
               "has statistics for each position, which is not supported");
  const shape extents = node.extents(0);
  node.require(extents.rank() >= 2, "has no channels");
  if (node.integer("training_mode", 0) != 0) {
    // Weight standardization, as exporters write it.
    node.require(extents[0] == 1,
                 "has statistics of a batch, as in training, which is not supported");
    return normalize_groups(to, node, extents[1]);
  }
  std::vector<std::size_t> weights;
  for (std::size_t i = 1; i < 5; ++i) {
    node.input(i);  // refuses an input computed by the network
    weights.push_back(to.value(i));
  }
  const std::int64_t pixels = extents_along(extents.extents(), 1).inner;
  std::size_t x = to.value(0);
  if (extents.rank() != 4) x = to.add_reshape(x, {extents[0], extents[1], pixels, 1});
  const batch_norm2d_layer norm{static_cast<double>(node.number("epsilon", 1e-5F))};
  return to.add_reshape(to.add(norm, {x}, weights), extents);
}

/// Computes x / (bias + alpha / size * sum of squares of adjacent channels)^beta.
std::size_t import_local_response_normalization(onnx_importer& to, const onnx_call& node) {
  const shape extents = node.extents(0);
  const std::int64_t size = node.integer("size", 0);
  node.require(extents.rank() == 4 && size > 0 && size <= most_of_window,
               "takes [N, C, H, W] and a size from 1 to 2^31 - 1");
  const std::size_t x = to.value(0);
  const std::size_t squares = to.add_reshape(to.add_pointwise(function::mul, {x, x}),
                                             {extents[0], 1, extents[1], extents[2] * extents[3]});
  const std::size_t means =
      to.add(pool2d_layer{.method = pooling::average,
                          .kernel = {size, 1},
                          .stride = {1, 1},
                          .padding = {(size - 1) / 2, 0},
                          .padding_after = extent_pair{size - 1 - (size - 1) / 2, 0}},
             {squares});
  const auto number = [&](float value) { return to.add_number(value); };
  const std::size_t weighed = to.add_pointwise(
      function::mul, {to.add_reshape(means, extents), number(node.number("alpha", 1e-4F))});
  const std::size_t sum =
      to.add_pointwise(function::add, {weighed, number(node.number("bias", 1.0F))});
  const std::size_t power =
      to.add_pointwise(function::pow, {sum, number(node.number("beta", 0.75F))});
  return to.add_pointwise(function::div, {x, power});
}

}  // namespace

onnx_operators imported_windows() {
  return {
      {"AveragePool", one_output(std::bind_front(import_pool, pooling::average))},
      {"BatchNormalization", one_output(import_batch_normalization)},
      {"GlobalAveragePool", one_output(std::bind_front(import_global_pool, reduced_by::mean))},
      {"GlobalMaxPool", one_output(std::bind_front(import_global_pool, reduced_by::max))},
      {"GroupNormalization", one_output([](onnx_importer& to, const onnx_call& node) {
         return normalize_groups(to, node, node.integer("num_groups", 0));
       })},
      {"InstanceNormalization", one_output([](onnx_importer& to, const onnx_call& node) {
         node.require(node.extents(0).rank() > 1, "has no channels");
         return normalize_groups(to, node, node.extents(0)[1]);
       })},
      {"LRN", one_output(import_local_response_normalization)},
      {"LayerNormalization", one_output(import_layer_normalization)},
      {"LogSoftmax", one_output(import_log_softmax)},
      {"MaxPool", one_output(std::bind_front(import_pool, pooling::max))},
      {"ReduceL1", imported_reduction(reduced_by::sum, function::abs)},
      {"ReduceL2", imported_reduction(reduced_by::sum, function::mul, function::sqrt)},
      {"ReduceLogSum", imported_reduction(reduced_by::sum, {}, function::log)},
      {"ReduceLogSumExp", one_output(import_reduce_log_sum_exp)},
      {"ReduceMax", imported_reduction(reduced_by::max)},
      {"ReduceMean", imported_reduction(reduced_by::mean)},
      {"ReduceMin", imported_reduction(reduced_by::min)},
      {"ReduceProd", imported_reduction(reduced_by::product)},
      {"ReduceSum", imported_reduction(reduced_by::sum)},
      {"ReduceSumSquare", imported_reduction(reduced_by::sum, function::mul)},
      {"Softmax", one_output(import_softmax)},
  };
}

}  // namespace graphline::nn::onnx
