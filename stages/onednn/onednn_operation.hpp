#pragma once

#include <dnnl.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {

/// An argument of a primitive, in memory.
struct onednn_argument {
  int role = 0;  ///< DNNL_ARG_SRC, ...
  dnnl::memory::desc layout;
  void* data = nullptr;
};

/// A oneDNN primitive with all its arguments: one operation of the `host` device. Running it
/// allocates nothing here.
class onednn_operation final : public host_operation {
 public:
  /// `owner` leads the message of a failure: "stage 'head', layer '0.linear'".
  onednn_operation(std::string name, std::string owner, dnnl::primitive primitive,
                   const std::vector<onednn_argument>& arguments);

  std::string_view name() const noexcept override { return name_; }

  /// Throws `run_error` with owner, name and oneDNN's status.
  void run() override;

 private:
  std::string name_;
  std::string owner_;
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;      // own the handles in arguments_
  std::vector<dnnl_exec_arg_t> arguments_;  // as the C interface takes them, made once
};

/// The one CPU engine of the process.
const dnnl::engine& onednn_engine();

/// What every primitive here is made with: a scratchpad that the caller provides, so that a frame
/// allocates nothing, and float32 arithmetic whatever the environment allows.
dnnl::primitive_attr onednn_attributes();

/// Layout of a packed, row-major float32 tensor.
dnnl::memory::desc plain_layout(const shape& s);

/// The same extents in whatever layout oneDNN prefers.
dnnl::memory::desc any_layout(const shape& s);

/// "CONTENT [IMPLEMENTATION]", such as "conv2d+bias+gelu [jit:avx512_core]".
std::string operation_name(const std::string& content, const dnnl::primitive_desc_base& chosen);

/// oneDNN's word for a status, such as "out of memory".
std::string_view describe_status(dnnl_status_t status) noexcept;

/// oneDNN with its version, for results.
std::vector<std::pair<std::string, std::string>> onednn_version();

}  // namespace graphline
