#pragma once

#include <cstddef>
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "stages/nn/onednn/host_function.hpp"
#include "stages/nn/program/program.hpp"

namespace graphline::nn {

const dnnl::engine& onednn_engine();

/// Returns the attributes of every primitive. The caller provides the scratchpad, so that frames
/// allocate nothing. Arithmetic is strict float32, regardless of environment variables.
dnnl::primitive_attr onednn_attributes();

/// Returns the layout of a packed, row-major float32 tensor. `transpose` swaps the last two extents
/// in memory.
dnnl::memory::desc plain_layout(const shape& s, bool transpose = false);

/// Returns a layout for oneDNN to choose.
dnnl::memory::desc any_layout(const shape& s);

/// Returns true if oneDNN compiles code for the primitive instead of using generic code.
inline bool is_compiled(const dnnl::primitive_desc_base& chosen) {
  return std::string_view(chosen.impl_info_str()).starts_with("jit");
}

struct host_value {
  std::size_t buffer = 0;
  dnnl::memory::desc layout;
};

/// A tensor, or a part of it, that a step reads or writes.
struct host_operand {
  host_operand(int primitives_role, host_value of, std::size_t from = 0)
      : role(primitives_role), tensor(std::move(of)), offset(from) {}
  host_operand(host_value of, std::size_t from = 0) : tensor(std::move(of)), offset(from) {}

  int role = 0;  ///< DNNL_ARG_SRC, ...; loops need none
  host_value tensor;
  std::size_t offset;  ///< bytes from the start of the buffer
};

/// An operation not yet bound to memory. `bind` returns it with the addresses of its operands.
struct host_step {
  std::string name;  ///< "conv2d+bias+gelu [jit:avx512_core]"
  std::vector<host_operand> operands;
  std::function<std::function<void()>(const std::vector<void*>&)> bind;
};

/// Graphline's own loops, called with the addresses of what they read and what they write.
using host_loops =
    std::function<void(const std::vector<const float*>& from, const std::vector<float*>& to)>;

/// A weight in host memory, and the layout in which steps read it.
struct host_constant {
  std::size_t buffer = 0;
  dnnl::memory::desc given;
  dnnl::memory::desc wanted;
  std::vector<float> values;
};

/// A program for the `host` device. Primitives must be made on the device's worker thread, because
/// oneDNN plans for the number of threads of the calling thread.
struct host_program : program {
  using bound_step = std::unique_ptr<host_function>;

  std::vector<host_step> steps;
  std::vector<host_constant> constants;  ///< empty after `load_constants`
  bool flush_denormals = false;

  /// Adds a primitive with its scratchpad as an operand, and names it after `content` and oneDNN's
  /// implementation. `owner` leads the message of a failure.
  template <class Primitive>
  void add_primitive(std::string_view content, const std::string& owner,
                     const typename Primitive::primitive_desc& chosen,
                     std::vector<host_operand> operands) {
    add_primitive(content, owner, Primitive(chosen), chosen, chosen.scratchpad_desc(),
                  std::move(operands));
  }

  /// Adds loops as a step.
  void add_loops(std::string name, std::vector<host_operand> from,
                 const std::vector<host_operand>& to, host_loops loops);

  static void enqueue(stream& s, const bound_step& step) { host_enqueue(s, *step); }

  void place_buffers();

  /// Writes the constants to `weights` in the layouts that steps read, and frees the host copies.
  /// Runs on the worker thread.
  void load_constants(std::byte* weights);

  std::vector<bound_step> bind(const program_memory& memory) const;

 private:
  void add_primitive(std::string_view content, const std::string& owner,
                     const dnnl::primitive& primitive, const dnnl::primitive_desc_base& chosen,
                     const dnnl::memory::desc& scratchpad, std::vector<host_operand> operands);
};

/// Returns oneDNN's version, for results.
std::vector<std::pair<std::string, std::string>> onednn_version();

}  // namespace graphline::nn
