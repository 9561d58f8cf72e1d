#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/program/program.hpp"

namespace graphline::nn {

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

/// A weight in host memory and the type of the elements that the steps want.
struct cuda_constant {
  std::size_t buffer = 0;
  dtype element = dtype::float32;
  std::vector<float> values;
};

/// A step with the addresses of its operands.
struct bound_cuda_step {
  const cuda_step* step = nullptr;
  std::vector<void*> operands;
  void* workspace = nullptr;
};

/// A program for a `cuda` device: plain data but for the library's plans, so that something other
/// than a GPU can carry it out too.
struct cuda_program : program {
  using bound_step = bound_cuda_step;

  std::vector<cuda_step> steps;
  std::vector<cuda_constant> constants;  ///< until `write_constants`

  void add_kernel(kernel_form form, std::vector<cuda_operand> operands, const std::string& owner);

  /// Adds a step for each call of the same operation on other operands.
  void add_calls(std::shared_ptr<library_operation> operation,
                 std::vector<std::vector<cuda_operand>> calls, const std::string& owner);

  static void enqueue(stream& s, const bound_step& bound);

  void place_buffers();

  /// Writes the constants to `weights`, in host memory, and drops the copies.
  void write_constants(std::byte* weights);

  /// The program must outlive the steps.
  std::vector<bound_step> bind(const program_memory& memory) const;
};

/// What reports say of so many calls of an operation: "8 calls of cuBLASLt algorithm 21".
std::string describe_calls(const library_operation& operation, std::size_t calls);

}  // namespace graphline::nn
