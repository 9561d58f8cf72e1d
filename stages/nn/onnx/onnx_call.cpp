#include "stages/nn/onnx/onnx_call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/utf8.hpp"

namespace graphline::nn::onnx {
refused_node::refused_node(const onnx_node& node, const std::string& why)
    : input_error(fmt::format("node {} ({}) {}", quote(node.name), printable(node.op_type), why)),
      why_(why) {}

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
        size_of(found.element) > 0
            ? fmt::format("needs a constant as its input {}, and not what it reads or computes in "
                          "every frame; 'fixed_inputs' makes constants of the model's inputs",
                          input)
            : fmt::format("has an input {} of type {}, which is not supported", input,
                          to_string(found.element)));
  }
  return found;
}

std::vector<float> onnx_call::floats(std::size_t input) const {
  return floats_of(this->input(input));
}

float onnx_call::number(std::size_t input) const {
  const std::vector<float> values = floats(input);
  if (values.size() != 1) refuse(fmt::format("takes one number as its input {}", input));
  return values.front();
}

std::vector<std::int64_t> onnx_call::integers(std::size_t input) const {
  const auto* values = std::get_if<std::vector<std::int64_t>>(&this->input(input).values);
  if (values == nullptr) refuse(fmt::format("has no integers as its input {}", input));
  return *values;
}

std::optional<std::vector<std::int64_t>> onnx_call::integers(std::string_view attribute) const {
  const auto* values = node_.attribute<std::vector<std::int64_t>>(attribute);
  return values == nullptr ? std::nullopt : std::optional(*values);
}

std::optional<std::vector<std::int64_t>> onnx_call::integers(std::string_view attribute,
                                                             std::size_t input) const {
  if (auto values = integers(attribute)) return values;
  return has(input) ? std::optional(integers(input)) : std::nullopt;
}

std::size_t onnx_call::axis(std::int64_t written, std::size_t rank) const {
  const auto axes = static_cast<std::int64_t>(rank);
  if (written < -axes || written >= axes) {
    refuse(fmt::format("has an axis {} of a tensor of {} dimensions", written, rank));
  }
  return static_cast<std::size_t>(written < 0 ? written + axes : written);
}

void onnx_call::charge(const shape& extents) const {
  constexpr std::size_t most_axes = 64;  // far above the rank of any tensor
  const auto elements = extents.checked_elements();
  if (!elements || extents.rank() > most_axes) {
    refuse("gives the impossible shape " + quote(to_string(extents)));
  }
  // Extents count, too, because they are unbounded if one of them is 0.
  std::int64_t left = budget_ - std::min(*elements, budget_);
  for (const std::int64_t extent : extents.extents()) left -= std::min(extent, left);
  if (left <= 0) refuse(fmt::format("asks for too many elements, at {}", to_string(extents)));
  budget_ = left;
}

}  // namespace graphline::nn::onnx
