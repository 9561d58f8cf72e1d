#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_model.hpp"

namespace graphline::nn::onnx {

/// A node and its inputs while a model is read: values of constants; only element type and extents
/// of what a run computes. Refusals are an `input_error` naming the node.
class onnx_call {
 public:
  /// Omitted `inputs` are null. `budget`: see `charge`.
  onnx_call(const onnx_node& node, std::span<const onnx_tensor* const> inputs, std::int64_t& budget)
      : node_(node), inputs_(inputs), budget_(budget) {}

  /// Throws `input_error`: "node 'Range_3' (Range) WHY".
  [[noreturn]] void refuse(const std::string& why) const;
  void require(bool holds, const char* otherwise) const;

  const onnx_node& node() const noexcept { return node_; }
  std::size_t inputs() const noexcept { return inputs_.size(); }
  bool has(std::size_t input) const noexcept {
    return input < inputs_.size() && inputs_[input] != nullptr;
  }
  /// An input, with or without known values; an input with known values. Both refuse an omitted
  /// input.
  const onnx_tensor& type(std::size_t input) const;
  const onnx_tensor& input(std::size_t input) const;
  const shape& extents(std::size_t input) const { return type(input).extents; }
  bool is_constant(std::size_t input) const { return type(input).known(); }

  // Values of a constant input; `number` takes exactly one.
  std::vector<std::int64_t> integers(std::size_t input) const;
  std::vector<float> floats(std::size_t input) const;
  float number(std::size_t input) const;

  // An attribute, or its default.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const noexcept;
  float number(std::string_view attribute, float otherwise) const noexcept;
  std::string text(std::string_view attribute, const char* otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute) const;

  /// The integers of an attribute or, since a later operator set, of an input.
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute,
                                                    std::size_t input) const;

  /// An axis counted from the front. Refuses one out of range.
  std::size_t axis(std::int64_t written, std::size_t rank) const;

  /// Remaining elements and extents that may be read and given: a small file can request any
  /// number.
  std::int64_t budget() const noexcept { return budget_; }
  /// Subtracts a tensor from the budget. Refuses negative extents, and a tensor beyond the budget.
  void charge(const shape& extents) const;

 private:
  const onnx_node& node_;
  std::span<const onnx_tensor* const> inputs_;
  std::int64_t& budget_;
};

}  // namespace graphline::nn::onnx
