#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// A piece of scratch memory that is in use from one step of a program to another, both included.
struct scratch_block {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct scratch_layout {
  std::vector<std::size_t> offsets;  ///< per block, aligned to 256 bytes
  std::size_t bytes = 0;             ///< of all together
};

/// Places blocks so that those in use at the same time do not overlap: largest first, each at the
/// lowest offset that is free during its time.
scratch_layout lay_out_scratch(const std::vector<scratch_block>& blocks);

/// Where a buffer of a program lies once the program is bound.
enum class buffer_place {
  input,    ///< a tensor that the program reads
  output,   ///< one it writes
  weights,  ///< at `offset` in the memory of its weights
  scratch,  ///< at `offset` in the memory that it needs while it runs
};

struct program_buffer {
  buffer_place place = buffer_place::scratch;
  std::size_t bytes = 0;
  std::size_t tensor = 0;  ///< which of the program's inputs or outputs
  std::size_t offset = 0;
  std::optional<std::size_t> within = {};  ///< it is the part of another buffer at `offset`
};

/// Layers computed as one, or a whole program, and the steps that do it.
struct program_part {
  std::string name;    ///< "0.conv2d+1.gelu"
  std::string choice;  ///< "cuDNN engine 8, 1.5 MiB workspace"
  graphline::cost cost;
  std::size_t end_steps = 0;  ///< it ends before this step; the part after it begins there
};

/// The memory that a program works on.
struct program_memory {
  std::span<const tensor_view> inputs;
  std::span<const tensor_view> outputs;
  std::byte* weights = nullptr;
  std::byte* scratch = nullptr;  ///< `scratch_bytes`, aligned to 256 bytes
};

/// A list of steps on buffers, apart from what a step is on its device.
struct program {
  std::vector<program_buffer> buffers;
  std::vector<program_part> parts;
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;

  std::size_t add_buffer(buffer_place place, std::size_t bytes, std::size_t tensor = 0);

  /// Adds a buffer that is part of another.
  std::size_t add_part_of(std::size_t whole, std::size_t offset, std::size_t bytes);

  /// Gives every buffer its offset, aligned to 256 bytes: weights one after the other, scratch
  /// reused by lifetime, which is from the first to the last use. `uses` has for each step the
  /// buffers it touches.
  void place_buffers(const std::vector<std::vector<std::size_t>>& uses);

  /// Where a buffer begins.
  std::byte* address_of(std::size_t buffer, const program_memory& memory) const;
};

}  // namespace graphline::nn
