#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/nn/onnx/onnx_model.hpp"

namespace graphline::nn::onnx {

/// Thrown for a node that is not supported: "node 'Range_3' (Range) WHY".
class refused_node : public input_error {
 public:
  refused_node(const onnx_node& node, const std::string& why);

  /// Returns what follows the node in the message: "has a step of 0".
  const std::string& why() const noexcept { return why_; }

 private:
  std::string why_;
};

/// A node and its inputs while a model is read. If the network computes an input, only the input's
/// element type and extents are known. Functions that refuse throw `refused_node`.
class onnx_call {
 public:
  /// `inputs` contains null for omitted inputs. `charge` subtracts from `budget`.
  onnx_call(const onnx_node& node, std::span<const onnx_tensor* const> inputs, std::int64_t& budget)
      : node_(node), inputs_(inputs), budget_(budget) {}

  [[noreturn]] void refuse(const std::string& why) const { throw refused_node(node_, why); }
  void require(bool holds, const char* otherwise) const;

  const onnx_node& node() const noexcept { return node_; }
  std::size_t inputs() const noexcept { return inputs_.size(); }
  bool has(std::size_t input) const noexcept {
    return input < inputs_.size() && inputs_[input] != nullptr;
  }
  /// Both return an input: `type` accepts one whose values are unknown, `input` rejects it. Both
  /// refuse an omitted input.
  const onnx_tensor& type(std::size_t input) const;
  const onnx_tensor& input(std::size_t input) const;
  const shape& extents(std::size_t input) const { return type(input).extents; }
  bool is_constant(std::size_t input) const { return type(input).known(); }

  // Return the values of a constant input; `number` requires exactly one value.
  std::vector<std::int64_t> integers(std::size_t input) const;
  std::vector<float> floats(std::size_t input) const;
  float number(std::size_t input) const;

  // Return an attribute, or `otherwise` if it is absent.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const {
    return node_.attribute_or(attribute, otherwise);
  }
  float number(std::string_view attribute, float otherwise) const {
    return node_.attribute_or(attribute, otherwise);
  }
  std::string text(std::string_view attribute, std::string otherwise) const {
    return node_.attribute_or(attribute, std::move(otherwise));
  }
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute) const;

  /// Returns the integers of an attribute or, as in newer operator sets, of an input.
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute,
                                                    std::size_t input) const;

  /// Returns an axis counted from the front; refuses an axis out of range.
  std::size_t axis(std::int64_t written, std::size_t rank) const;

  /// Returns the number of elements and extents that may still be read and produced. The limit
  /// keeps a small file from requesting unbounded work.
  std::int64_t budget() const noexcept { return budget_; }
  /// Subtracts a tensor from the budget. Refuses negative extents, and sizes that exceed the
  /// budget.
  void charge(const shape& extents) const;

 private:
  const onnx_node& node_;
  std::span<const onnx_tensor* const> inputs_;
  std::int64_t& budget_;
};

}  // namespace graphline::nn::onnx
