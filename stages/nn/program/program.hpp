#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// Memory that contains a buffer once the program is bound.
enum class buffer_place {
  input,
  output,
  weights,  ///< a constant, at `offset` in a block of all constants, or shared
  scratch,  ///< at `offset` in the scratch memory
  check,    ///< the number of a `program_check`
};

struct program_buffer {
  buffer_place place = buffer_place::scratch;
  std::size_t bytes = 0;
  std::size_t tensor = 0;  ///< index among the inputs, outputs or checks
  std::size_t offset = 0;
  std::optional<std::size_t> within = {};  ///< buffer that contains this buffer at `offset`
};

/// The steps of a group of layers, or of a whole program.
struct program_part {
  std::string name;    ///< "0.conv2d+1.gelu"
  std::string choice;  ///< "cuDNN engine 8, 1.5 MiB workspace"
  graphline::cost cost;
  std::size_t end_steps = 0;  ///< one past the part's last step
};

/// A layer that reads a table by computed indices. Its step writes an index that is out of range to
/// a number in pinned memory, which is 0 otherwise.
struct program_check {
  std::string layer;
  std::size_t axis = 0;     ///< of the table
  std::int64_t extent = 0;  ///< of the axis
};

struct program_memory {
  std::span<const tensor_view> inputs;
  std::span<const tensor_view> outputs;
  std::span<std::byte* const> weights;  ///< by buffer; null for buffers of other places
  std::byte* scratch = nullptr;         ///< `scratch_bytes` bytes, aligned to 256 bytes
  float* checks = nullptr;              ///< one number per check
};

/// Buffers and parts of a program. The derived class for a device adds the steps.
struct program {
  std::vector<program_buffer> buffers;
  std::vector<program_part> parts;
  std::vector<program_check> checks;
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;

  std::size_t add_buffer(buffer_place place, std::size_t bytes, std::size_t tensor = 0);

  /// Adds a buffer inside the buffer `whole`.
  std::size_t add_part_of(std::size_t whole, std::size_t offset, std::size_t bytes);

  /// Adds a check for each of these dimensions of a table, from `axis` on; their numbers are
  /// adjacent. Returns the buffer of the first.
  std::size_t add_checks(const std::string& layer, std::size_t axis,
                         const std::vector<std::int64_t>& extents);

  /// Returns what the first failed check says, and resets all; empty if none failed. `numbers` are
  /// those of `program_memory`.
  std::string take_problem(std::span<float> numbers) const;

  /// Assigns offsets aligned to 256 bytes. Weights are consecutive. Scratch buffers share memory if
  /// their lifetimes do not overlap. `uses` lists the buffers of each step.
  void place_buffers(const std::vector<std::vector<std::size_t>>& uses);

  /// Returns the address of each weights buffer, by buffer, if `block` contains all at their
  /// offsets.
  std::vector<std::byte*> weights_in(std::byte* block) const;

  std::byte* address_of(std::size_t buffer, const program_memory& memory) const;
};

}  // namespace graphline::nn
