#pragma once

#include <cstddef>
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/stage/stage.hpp"
#include "stages/network/program_buffers.hpp"
#include "stages/onednn/onednn_operation.hpp"

namespace graphline {

/// A value during the network: where and in which layout.
struct program_tensor {
  std::size_t buffer = 0;
  dnnl::memory::desc layout;
};

/// What one step touches.
struct program_operand {
  int role = 0;  ///< DNNL_ARG_SRC, ...
  program_tensor tensor;
  std::size_t offset = 0;  ///< where in the buffer it begins, in bytes
};

/// One operation, not yet bound to memory. `make` gets the operands in order, with their addresses.
struct program_step {
  std::string name;  ///< "conv2d+bias+gelu [jit:avx512_core]"
  std::vector<program_operand> operands;
  std::function<std::unique_ptr<host_operation>(const std::vector<onednn_argument>&)> make;
};

/// A weight in host memory and the layout in which the steps want it.
struct program_constant {
  std::size_t buffer = 0;
  dnnl::memory::desc given;
  dnnl::memory::desc wanted;
  std::vector<float> values;
};

/// Layers computed as one, and the steps that do it.
struct program_part {
  std::string name;  ///< "0.conv2d+1.gelu"
  graphline::cost cost;
  std::size_t end_steps = 0;  ///< it ends before this step; the part after it begins there
};

/// A network as a list of operations for the `host` device.
struct host_program {
  std::vector<program_buffer> buffers;
  std::vector<program_step> steps;
  std::vector<program_part> parts;
  std::vector<program_constant> constants;  ///< until `load_constants`
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;

  /// Gives every buffer its offset: weights one after the other, scratch reused by lifetime.
  void place_buffers();

  /// Writes the constants to `weights` in the layouts the steps want and drops the host copies. On
  /// the worker thread.
  void load_constants(std::byte* weights);

  /// The operations on the given memory, in order.
  std::vector<std::unique_ptr<host_operation>> bind(const program_memory& memory) const;
};

}  // namespace graphline
