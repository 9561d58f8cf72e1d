#pragma once

#include <cstddef>
#include <vector>

namespace graphline {

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
  input,    ///< the tensor the network reads
  output,   ///< the tensor it writes
  weights,  ///< at `offset` in the stage's weights
  scratch,  ///< at `offset` in the slot's scratch
};

struct program_buffer {
  buffer_place place = buffer_place::scratch;
  std::size_t bytes = 0;
  std::size_t offset = 0;
};

/// The addresses a program is bound to.
struct program_memory {
  void* input = nullptr;
  void* output = nullptr;
  std::byte* weights = nullptr;
  std::byte* scratch = nullptr;
};

/// Per step of a program, the buffers it touches.
using buffer_uses = std::vector<std::vector<std::size_t>>;

/// Bytes of all buffers of one place together.
struct placed_bytes {
  std::size_t weights = 0;
  std::size_t scratch = 0;
};

/// Gives every buffer its offset, aligned to 256 bytes: weights one after the other, scratch reused
/// by lifetime, which is from the first to the last use.
placed_bytes place_buffers(std::vector<program_buffer>& buffers, const buffer_uses& uses);

/// Where a buffer begins.
void* address_of(const program_buffer& buffer, const program_memory& memory) noexcept;

}  // namespace graphline
