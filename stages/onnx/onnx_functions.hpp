#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stages/onnx/onnx_model.hpp"

namespace graphline::onnx {

/// A node and its constant inputs, as the function of its operator sees them.
class onnx_call {
 public:
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

  /// An attribute, or what it is where it is left out.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const noexcept;
  /// The integers of an input; those of an attribute or, since a later operator set, of an input.
  std::vector<std::int64_t> integers(std::size_t input) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute,
                                                    std::size_t input) const;

  /// An axis; negative ones count from the end. Refuses what is beyond `rank`.
  std::size_t axis(std::int64_t written, std::size_t rank) const;

  /// How many more elements and extents may be read and given.
  std::int64_t budget() const noexcept { return budget_; }
  /// Takes a tensor's off the budget. Refuses extents below 0.
  void charge(const shape& extents) const;

  /// A tensor of zeros.
  onnx_tensor make(onnx_type element, const shape& extents) const;
  /// The same values with other extents.
  onnx_tensor reshaped(const onnx_tensor& from, const shape& extents) const;

 private:
  const onnx_node& node_;
  std::span<const onnx_tensor* const> inputs_;
  std::int64_t& budget_;
};

using onnx_function = std::function<std::vector<onnx_tensor>(const onnx_call&)>;
using onnx_functions = std::map<std::string_view, onnx_function>;

/// A function with one output.
template <class Function>
onnx_function gives_one(Function function) {
  return [function](const onnx_call& call) { return std::vector{function(call)}; };
}

/// Operators that compute, that rearrange elements, and that make them of extents, positions and
/// attributes.
onnx_functions onnx_arithmetic();
onnx_functions onnx_generators();
onnx_functions onnx_rearrangements();

/// For each axis of a result, how far into a tensor each position along it leads. Their sum is the
/// place of an element: strides are the case in which they grow evenly.
using axis_offsets = std::vector<std::vector<std::int64_t>>;

/// The distance between neighbors along each axis.
std::vector<std::int64_t> strides_of(const shape& extents);

/// Positions 0, 1, ... of each axis at these strides.
axis_offsets even_offsets(const shape& extents, const std::vector<std::int64_t>& strides);

/// Of a tensor that is broadcast to `to`, as numpy does.
axis_offsets broadcast_offsets(const shape& from, const shape& to);

/// The extents that all of these broadcast to.
shape broadcast(const onnx_call& call, std::span<const shape> all);

/// The sums of offsets in row-major order, one for each call of `next`.
class offset_walk {
 public:
  explicit offset_walk(axis_offsets offsets)
      : offsets_(std::move(offsets)), position_(offsets_.size()) {}

  std::size_t next() noexcept;

 private:
  axis_offsets offsets_;
  std::vector<std::size_t> position_;
  std::int64_t outer_ = 0;  ///< the sum of all but the last axis
  bool carried_ = false;    ///< whether `outer_` is that of the position
};

/// Fills `result` with the elements of `from` at these offsets; where they are below 0 it stays as
/// it is.
void fill(onnx_tensor& result, const onnx_tensor& from, axis_offsets offsets);
/// Fills it with one element.
void fill_with(onnx_tensor& result, const onnx_tensor& one);

/// A tensor with its values converted.
onnx_tensor cast_onnx(const onnx_call& call, const onnx_tensor& from, onnx_type element);

}  // namespace graphline::onnx
