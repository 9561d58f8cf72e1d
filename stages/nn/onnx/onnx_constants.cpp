#include "stages/nn/onnx/onnx_constants.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "stages/nn/weights/float_conversion.hpp"

namespace graphline::nn::onnx {
namespace {

const onnx_functions& known_functions() {
  static const onnx_functions all = [] {
    onnx_functions functions = onnx_arithmetic();
    functions.merge(onnx_generators());
    functions.merge(onnx_rearrangements());
    return functions;
  }();
  return all;
}

}  // namespace

void narrow(const onnx_call& call, onnx_tensor& tensor) {
  if (auto* integers = std::get_if<std::vector<std::int64_t>>(&tensor.values)) {
    for (std::int64_t& value : *integers) value = wrapped(tensor.element, value);
    call.require(tensor.element != onnx_type::uint64 ||
                     std::ranges::all_of(*integers, [](auto value) { return value >= 0; }),
                 "gives numbers beyond 2^63 - 1, which is not supported");
  } else if (tensor.element == onnx_type::float16 || tensor.element == onnx_type::bfloat16) {
    const bool half = tensor.element == onnx_type::float16;
    for (float& value : std::get<std::vector<float>>(tensor.values)) {
      value = half ? float_from_half(half_from_float(value))
                   : float_from_bfloat16(bfloat16_from_float(value));
    }
  }
}

onnx_tensor make(const onnx_call& call, onnx_type element, const shape& extents) {
  call.charge(extents);
  call.require(size_of(element) > 0, "gives elements of a type that is not supported");
  onnx_tensor result{.element = element, .extents = extents};
  const auto count = static_cast<std::size_t>(*extents.checked_elements());
  if (is_whole(element)) {
    result.values = std::vector<std::int64_t>(count);
  } else if (element == onnx_type::float64) {
    result.values = std::vector<double>(count);
  } else {
    result.values = std::vector<float>(count);
  }
  return result;
}

onnx_tensor reshaped(const onnx_call& call, const onnx_tensor& from, const shape& extents) {
  call.charge(extents);
  call.require(extents.checked_elements() == from.extents.checked_elements(),
               "does not keep the number of elements");
  return {.element = from.element, .extents = extents, .values = from.values};
}

axis_offsets even_offsets(const shape& extents, const std::vector<std::int64_t>& strides) {
  axis_offsets offsets;
  for (std::size_t axis = 0; axis < extents.rank(); ++axis) {
    auto& along = offsets.emplace_back(static_cast<std::size_t>(extents[axis]));
    for (std::size_t i = 0; i < along.size(); ++i) {
      along[i] = static_cast<std::int64_t>(i) * strides[axis];
    }
  }
  return offsets;
}

axis_offsets broadcast_offsets(const shape& from, const shape& to) {
  return even_offsets(to, broadcast_strides(from, to));
}

void fill(onnx_tensor& result, const onnx_tensor& from, axis_offsets offsets) {
  std::visit(
      [&]<class Value>(const std::vector<Value>& values) {
        auto to = std::get<std::vector<Value>>(result.values).begin();
        walk(std::array{std::move(offsets)}, [&](const auto& at) {
          if (at[0] < values.size()) *to = values[at[0]];
          ++to;
        });
      },
      from.values);
}

onnx_tensor broadcast_to(const onnx_call& call, const onnx_tensor& from, const shape& extents) {
  onnx_tensor result = make(call, from.element, extents);
  fill(result, from, broadcast_offsets(from.extents, extents));
  return result;
}

void fill_with(onnx_tensor& result, const onnx_tensor& one) {
  fill(result, one,
       even_offsets(result.extents, std::vector<std::int64_t>(result.extents.rank(), 0)));
}

}  // namespace graphline::nn::onnx

namespace graphline::nn {

std::vector<std::string_view> evaluated_operators() {
  std::vector<std::string_view> names;
  for (const auto& [name, _] : onnx::known_functions()) names.push_back(name);
  return names;
}

bool can_evaluate(const onnx_node& node) noexcept {
  return node.domain.empty() && onnx::known_functions().contains(node.op_type);
}

std::vector<onnx_tensor> evaluate_onnx(const onnx_node& node,
                                       std::span<const onnx_tensor* const> inputs,
                                       std::int64_t& budget) {
  const onnx::onnx_call call(node, inputs, budget);
  call.require(can_evaluate(node), "is not an operator that constants are computed with");
  for (const onnx_tensor* input : inputs) {
    if (input != nullptr && input->known()) call.charge(input->extents);
  }
  try {
    auto outputs = onnx::known_functions().find(node.op_type)->second(call);
    for (onnx_tensor& output : outputs) onnx::narrow(call, output);
    return outputs;
  } catch (const std::domain_error& undefined) {
    call.refuse(undefined.what());
  }
}

}  // namespace graphline::nn
