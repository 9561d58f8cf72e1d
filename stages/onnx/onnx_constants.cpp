#include "stages/onnx/onnx_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "stages/onnx/onnx_functions.hpp"
#include "stages/weights/float_conversion.hpp"

namespace graphline::onnx {
namespace {

/// Far more than the dimensions of any tensor.
constexpr std::size_t most_axes = 64;

const onnx_functions& known_functions() {
  static const onnx_functions all = [] {
    onnx_functions functions = onnx_arithmetic();
    functions.merge(onnx_generators());
    functions.merge(onnx_rearrangements());
    return functions;
  }();
  return all;
}

/// Values as the tensor's type can hold them: what was computed is wider.
void narrow(const onnx_call& call, onnx_tensor& tensor) {
  if (auto* integers = std::get_if<std::vector<std::int64_t>>(&tensor.values)) {
    for (std::int64_t& value : *integers) value = wrapped(tensor.element, value);
    call.require(tensor.element != onnx_type::uint64 ||
                     std::ranges::all_of(*integers, [](auto value) { return value >= 0; }),
                 "gives numbers beyond 2^63 - 1, which is not supported");
  } else if (tensor.element == onnx_type::float16) {
    for (float& value : std::get<std::vector<float>>(tensor.values)) {
      value = float_from_half(half_from_float(value));
    }
  } else if (tensor.element == onnx_type::bfloat16) {
    for (float& value : std::get<std::vector<float>>(tensor.values)) {
      value = float_from_bfloat16(bfloat16_from_float(value));
    }
  }
}

}  // namespace

void onnx_call::refuse(const std::string& why) const {
  throw input_error(fmt::format("node {} ({}) {}", quote(node_.name), quote(node_.op_type), why));
}

void onnx_call::require(bool holds, const char* otherwise) const {
  if (!holds) refuse(otherwise);
}

const onnx_tensor& onnx_call::type(std::size_t input) const {
  if (!has(input)) refuse(fmt::format("has no input {}", input));
  return *inputs_[input];
}

const onnx_tensor& onnx_call::input(std::size_t input) const {
  const onnx_tensor& found = type(input);
  if (!found.known()) {
    refuse(
        fmt::format("needs the values of its input {}, a {} that is not constant or not supported",
                    input, to_string(found.element)));
  }
  return found;
}

std::int64_t onnx_call::integer(std::string_view attribute, std::int64_t otherwise) const noexcept {
  const auto* value = node_.attribute<std::int64_t>(attribute);
  return value == nullptr ? otherwise : *value;
}

std::vector<std::int64_t> onnx_call::integers(std::size_t input) const {
  const auto* values = std::get_if<std::vector<std::int64_t>>(&this->input(input).values);
  if (values == nullptr) refuse(fmt::format("has no integers as its input {}", input));
  return *values;
}

std::optional<std::vector<std::int64_t>> onnx_call::integers(std::string_view attribute,
                                                             std::size_t input) const {
  if (const auto* values = node_.attribute<std::vector<std::int64_t>>(attribute)) return *values;
  if (has(input)) return integers(input);
  return std::nullopt;
}

std::size_t onnx_call::axis(std::int64_t written, std::size_t rank) const {
  const auto axes = static_cast<std::int64_t>(rank);
  if (written < -axes || written >= axes) {
    refuse(fmt::format("has an axis {} of a tensor of {} dimensions", written, rank));
  }
  return static_cast<std::size_t>(written < 0 ? written + axes : written);
}

void onnx_call::charge(const shape& extents) const {
  const auto elements = extents.checked_elements();
  if (!elements || extents.rank() > most_axes) {
    refuse("gives the impossible shape " + quote(to_string(extents)));
  }
  // Extents too, since beside one that is 0 they could be of any size.
  std::int64_t left = budget_ - std::min(*elements, budget_);
  for (const std::int64_t extent : extents.extents()) left -= std::min(extent, left);
  if (left <= 0) refuse(fmt::format("takes too much for a constant, at {}", to_string(extents)));
  budget_ = left;
}

onnx_tensor onnx_call::make(onnx_type element, const shape& extents) const {
  charge(extents);
  onnx_tensor result{.element = element, .extents = extents};
  const auto count = static_cast<std::size_t>(*extents.checked_elements());
  switch (element) {
    case onnx_type::float32:
    case onnx_type::float16:
    case onnx_type::bfloat16:
      result.values = std::vector<float>(count);
      break;
    case onnx_type::float64:
      result.values = std::vector<double>(count);
      break;
    default:
      require(size_of(element) > 0, "gives elements of a type that is not supported");
      result.values = std::vector<std::int64_t>(count);
  }
  return result;
}

onnx_tensor onnx_call::reshaped(const onnx_tensor& from, const shape& extents) const {
  charge(extents);
  require(extents.checked_elements() == from.extents.checked_elements(),
          "does not keep the number of elements");
  return {.element = from.element, .extents = extents, .values = from.values};
}

std::vector<std::int64_t> strides_of(const shape& extents) {
  // Without elements nothing is reached, and extents beside one that is 0 may be of any size.
  const bool empty = extents.checked_elements() == 0;
  std::vector<std::int64_t> strides(extents.rank(), empty ? 0 : 1);
  for (std::size_t axis = extents.rank(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * extents[axis];
  }
  return strides;
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
  std::vector<std::int64_t> strides(to.rank(), 0);
  const auto own = strides_of(from);
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    if (from[axis] != 1) strides[to.rank() - own.size() + axis] = own[axis];
  }
  return even_offsets(to, strides);
}

shape broadcast(const onnx_call& call, std::span<const shape> all) {
  std::vector<std::int64_t> extents;
  for (const shape& each : all) {
    if (each.rank() > extents.size())
      extents.insert(extents.begin(), each.rank() - extents.size(), 1);
    for (std::size_t axis = 0; axis < each.rank(); ++axis) {
      std::int64_t& common = extents[extents.size() - each.rank() + axis];
      if (common == 1) common = each[axis];
      call.require(each[axis] == 1 || each[axis] == common, "has shapes that do not broadcast");
    }
  }
  return shape(std::move(extents));
}

std::size_t offset_walk::next() noexcept {
  if (offsets_.empty()) return 0;
  if (!carried_) {
    outer_ = 0;
    for (std::size_t axis = 0; axis + 1 < offsets_.size(); ++axis) {
      outer_ += offsets_[axis][position_[axis]];
    }
    carried_ = true;
  }
  const std::int64_t sum = outer_ + offsets_.back()[position_.back()];
  for (std::size_t axis = offsets_.size(); axis-- > 0;) {
    if (++position_[axis] < offsets_[axis].size()) break;
    position_[axis] = 0;
    carried_ = false;
  }
  return static_cast<std::size_t>(sum);
}

void fill(onnx_tensor& result, const onnx_tensor& from, axis_offsets offsets) {
  offset_walk in_from(std::move(offsets));
  std::visit(
      [&]<class Value>(const std::vector<Value>& values) {
        for (Value& to : std::get<std::vector<Value>>(result.values)) {
          const std::size_t at = in_from.next();
          if (at < values.size()) to = values[at];
        }
      },
      from.values);
}

void fill_with(onnx_tensor& result, const onnx_tensor& one) {
  fill(result, one,
       even_offsets(result.extents, std::vector<std::int64_t>(result.extents.rank(), 0)));
}

}  // namespace graphline::onnx

namespace graphline {

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

}  // namespace graphline
