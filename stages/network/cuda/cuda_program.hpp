#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/tensor_type.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/kernel_forms.hpp"
#include "stages/network/program_buffers.hpp"

namespace graphline {

/// What a step reads or writes: a buffer, or what begins somewhere in it.
struct cuda_operand {
  cuda_operand(std::size_t whole, std::size_t from = 0) : buffer(whole), offset(from) {}

  std::size_t buffer;
  std::size_t offset;  ///< in bytes
};

/// One operation on buffers: a kernel of the project or a call of a library.
struct cuda_step {
  std::variant<kernel_form, std::shared_ptr<library_operation>> work;
  std::vector<cuda_operand> operands;    ///< in the order that the work states
  std::optional<std::size_t> workspace;  ///< a buffer, for a library that needs one
  std::string owner;                     ///< "stage 'head', layer '0.linear'", for messages
};

/// Layers computed as one, and the steps that do it.
struct cuda_part {
  std::string name;    ///< "0.conv2d+1.gelu"
  std::string choice;  ///< "cuDNN engine 8, 1.5 MiB workspace"
  graphline::cost cost;
  std::size_t end_steps = 0;  ///< it ends before this step; the part after it begins there
};

/// A weight in host memory and the type of the elements that the steps want.
struct cuda_constant {
  std::size_t buffer = 0;
  dtype element = dtype::float32;
  std::vector<float> values;
};

/// A step with the addresses of its operands.
struct bound_step {
  const cuda_step* step = nullptr;
  std::vector<void*> operands;
  void* workspace = nullptr;
};

/// A network as a list of operations for a `cuda` device: plain data but for the library's plans,
/// so that something other than a GPU can carry it out too.
struct cuda_program {
  std::vector<program_buffer> buffers;
  std::vector<cuda_step> steps;
  std::vector<cuda_part> parts;
  std::vector<cuda_constant> constants;  ///< until `write_constants`
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;

  /// Gives every buffer its offset: weights one after the other, scratch reused by lifetime.
  void place_buffers();

  /// Writes the constants to `weights`, in host memory, and drops the copies.
  void write_constants(std::byte* weights);

  /// The steps on the given memory, in order. The program must outlive them.
  std::vector<bound_step> bind(const program_memory& memory) const;
};

}  // namespace graphline
