#pragma once

// What the stages ask of cuDNN and cuBLASLt, apart from how these are called: so that a network can
// be lowered, and what it was lowered to be tried out, without a GPU.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/device/device.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

/// A two-dimensional convolution with what is fused into it:
///   y = after(... + added), with ... = before(conv(x, weights) + bias)
/// Every tensor is packed with channels last, [batch, height, width, channels]; the weights are
/// [out_channels, kernel height, kernel width, in_channels / groups]; the bias is one per output
/// channel. All hold elements of the precision's type.
/// Operands, in order: x, weights, bias (if any), added (if any), y.
struct convolution_form {
  std::int64_t batch = 0;
  std::int64_t in_channels = 0;
  extent_pair in{};   ///< height, width
  extent_pair out{};  ///< height, width
  conv2d_layer conv;  ///< its `bias` tells whether one is added
  std::vector<activation> before = {};
  bool add = false;
  std::vector<activation> after = {};  ///< only with `add`
  graphline::precision precision = graphline::precision::float32;
};

/// A batch of matrix products, row-major: d = activate(scale a b + bias). Extents as multiplied: a
/// is m x k, b is k x n; a transposed one is stored the other way around. Leading dimensions and
/// strides in elements; a stride of 0 uses one matrix for the whole batch. The bias is one per
/// column of d. All hold elements of the precision's type.
/// Operands, in order: a, b, bias (if any), d.
struct product_form {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t a_leading = 0;
  std::int64_t b_leading = 0;
  std::int64_t d_leading = 0;
  std::int64_t batch = 1;
  std::int64_t a_stride = 0;
  std::int64_t b_stride = 0;
  std::int64_t d_stride = 0;
  bool bias = false;
  std::vector<activation> activations = {};
  float scale = 1;
  graphline::precision precision = graphline::precision::float32;
  std::size_t alignment = 16;  ///< bytes that divide every operand's address, a power of two
};

/// A library's operation, planned and ready to be enqueued any number of times. Must outlive the
/// launches of graphs that captured it.
class library_operation {
 public:
  virtual ~library_operation() = default;

  /// What was chosen, for reports: "cuDNN engine 8, 1.5 MiB workspace".
  virtual std::string choice() const = 0;

  /// Device memory it needs while it runs, aligned to 256 bytes.
  virtual std::size_t workspace_bytes() const = 0;

  /// Enqueues it on a CUDA stream. Operands are aligned to 16 bytes, or as the form
  /// says. Allocates nothing on the device; may run under a capture once it has run outside of one.
  /// Throws `run_error` with the library's status.
  virtual void enqueue(void* cuda_stream, std::span<void* const> operands, void* workspace) = 0;
};

/// Plans operations for one device.
class cuda_library {
 public:
  virtual ~cuda_library() = default;

  /// Null, and the reason in `why_not`, when the library has nothing for this form: the caller then
  /// asks for less of it fused.
  virtual std::unique_ptr<library_operation> plan(const convolution_form& form,
                                                  std::string& why_not) = 0;
  virtual std::unique_ptr<library_operation> plan(const product_form& form,
                                                  std::string& why_not) = 0;
};

/// Everything in a form, as text: two forms of the same text are the same operation. Part of the
/// keys of the tuning cache.
std::string to_text(const convolution_form& form);
std::string to_text(const product_form& form);

/// Bytes that each operand of a form spans, in their order.
std::vector<std::size_t> operand_bytes(const convolution_form& form);
std::vector<std::size_t> operand_bytes(const product_form& form);

/// cuDNN for convolutions and cuBLASLt for products on a `cuda` device. Each library is opened when
/// it is first asked for a plan, which throws `run_error` where it cannot be had. With `tune` plans
/// are tried out on the device, or taken from what earlier runs of the program found out; without,
/// they are those that the library guesses to be the fastest. `owner` leads the messages of what
/// is planned: "stage 'head'". What is planned may outlive this, but not the device. Not for two
/// threads at once.
std::unique_ptr<cuda_library> open_cuda_libraries(device& on, bool tune, std::string owner);

/// For reports: each library with its version, or with "not found". Opens them.
std::vector<std::pair<std::string, std::string>> cuda_library_versions();

}  // namespace graphline::nn
