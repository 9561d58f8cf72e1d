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

/// An operand of a step: a buffer, or part of one.
struct cuda_operand {
  cuda_operand(std::size_t whole, std::size_t from = 0) : buffer(whole), offset(from) {}

  std::size_t buffer;
  std::size_t offset;  ///< in bytes
};

/// One operation on buffers: a Graphline kernel or a library call.
struct cuda_step {
  std::variant<kernel_form, std::shared_ptr<library_operation>> work;
  std::vector<cuda_operand> operands;    ///< in the order that `work` defines
  std::optional<std::size_t> workspace;  ///< a buffer, if the library needs one
  std::string owner;                     ///< "stage 'head', layer '0.linear'", for messages
};

/// A weight in host memory and the element type in which steps read it.
struct cuda_constant {
  std::size_t buffer = 0;
  dtype element = dtype::float32;
  std::vector<float> values;
};

struct bound_cuda_step {
  const cuda_step* step = nullptr;
  std::vector<void*> operands;
  void* workspace = nullptr;
};

/// A program for a `cuda` device. It is plain data except for the libraries' plans, so that tests
/// can run it without a GPU.
struct cuda_program : program {
  using bound_step = bound_cuda_step;

  std::vector<cuda_step> steps;
  std::vector<cuda_constant> constants;  ///< empty after `write_constants`

  void add_kernel(kernel_form form, std::vector<cuda_operand> operands, const std::string& owner);

  /// Adds a step for each call of an operation.
  void add_calls(std::shared_ptr<library_operation> operation,
                 std::vector<std::vector<cuda_operand>> calls, const std::string& owner);

  static void enqueue(stream& s, const bound_step& bound);

  void place_buffers();

  /// Writes the constants to `weights` in host memory and frees the program's copies.
  void write_constants(std::byte* weights);

  /// Binds the steps to addresses. The program must outlive the bound steps.
  std::vector<bound_step> bind(const program_memory& memory) const;
};

}  // namespace graphline::nn
