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

/// A node and what is known of its inputs while a model is read: of constants their values, of what
/// a run computes element and extents alone. All refusals are an `input_error` that names the node.
class onnx_call {
 public:
  /// `inputs` of what is left out are null. `budget`: see `charge`.
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
  /// An input, whether its values are known or not; one with known values. Refuse what is left out.
  const onnx_tensor& type(std::size_t input) const;
  const onnx_tensor& input(std::size_t input) const;
  const shape& extents(std::size_t input) const { return type(input).extents; }
  bool is_constant(std::size_t input) const { return type(input).known(); }

  // The values of a constant input, or the only one.
  std::vector<std::int64_t> integers(std::size_t input) const;
  std::vector<float> floats(std::size_t input) const;
  float number(std::size_t input) const;

  // An attribute, or what it is where it is left out.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const noexcept;
  float number(std::string_view attribute, float otherwise) const noexcept;
  std::string text(std::string_view attribute, const char* otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute) const;

  /// The integers of an attribute or, since a later operator set, of an input.
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute,
                                                    std::size_t input) const;

  /// An axis; negative ones count from the end. Refuses what is beyond `rank`.
  std::size_t axis(std::int64_t written, std::size_t rank) const;

  /// How many more elements and extents may be read and given: a file of a few bytes can ask for
  /// any number of them.
  std::int64_t budget() const noexcept { return budget_; }
  /// Takes a tensor's off the budget. Refuses extents below 0.
  void charge(const shape& extents) const;

 private:
  const onnx_node& node_;
  std::span<const onnx_tensor* const> inputs_;
  std::int64_t& budget_;
};

}  // namespace graphline::nn::onnx
