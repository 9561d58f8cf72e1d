#pragma once

// Interface to cuDNN and cuBLASLt. Tests implement it to lower networks without a GPU.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/precision.hpp"
#include "framework/device/device.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

/// Returns true if a library may fuse a pointwise layer with one operand into a product.
bool may_be_fused(const pointwise_layer& layer);

/// A 2-D convolution with fused operations: y = after(before(conv(x, weights) + bias) + added).
/// Tensors are packed in `layout`; so are the weights, [out_channels, in_channels / groups, kernel
/// height, kernel width]; the bias is per output channel. All elements have the precision's type.
/// Operands, in order: x, weights, bias (if any), added (if any), y.
struct convolution_form {
  std::int64_t batch = 0;
  std::int64_t in_channels = 0;
  extent_pair in{};
  extent_pair out{};
  conv2d_layer conv;  ///< `conv.bias` adds a bias
  std::vector<pointwise_layer> before = {};
  bool add = false;
  std::vector<pointwise_layer> after = {};  ///< used if `add` is set
  graphline::precision precision = graphline::precision::float32;
  tensor_layout layout = tensor_layout::channels_last;
};

/// Alignments of the operands' addresses in every call, in bytes; powers of two. A bias is aligned
/// to 16; an added matrix, as d.
struct product_alignment {
  std::size_t a = 16;
  std::size_t b = 16;
  std::size_t d = 16;
};

/// A batch of row-major matrix products: d = activate(scale a b + bias + added). In the product, a
/// is m x k and b is k x n; a transposed operand is stored as k x m or n x k. Leading dimensions
/// and strides are in elements; a stride of 0 shares one matrix in the whole batch. The bias is per
/// column of d; the added matrices lie like d's. All elements have the precision's type. Operands,
/// in order: a, b, bias (if any), added (if any), d.
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
  bool add = false;
  std::vector<pointwise_layer> activations = {};
  float scale = 1;
  graphline::precision precision = graphline::precision::float32;
  product_alignment alignment = {};
};

/// Attention over packed queries, keys and values [batch, tokens, 3, heads, depth]: y = softmax(q k
/// / sqrt(depth)) v, which is [batch, tokens, heads, depth]. All elements have the precision's
/// type. Operands, in order: the first query, the first key, the first value, y.
struct attention_form {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t heads = 1;
  std::int64_t depth = 1;
  graphline::precision precision = graphline::precision::float32;
};

/// The speed of a plan, as far as it is known.
struct plan_speed {
  std::optional<nanoseconds> tuned = {};  ///< measured time of one run; empty if not tuned
  bool tensor_cores = false;
};

/// A planned library operation. It must outlive all launches of graphs that captured it.
class library_operation {
 public:
  virtual ~library_operation() = default;

  /// Returns the plan, for reports: "cuDNN engine 8, 1.5 MiB workspace".
  virtual std::string choice() const = 0;

  /// Returns the bytes of device memory used while it runs, aligned to 256 bytes.
  virtual std::size_t workspace_bytes() const = 0;

  virtual plan_speed speed() const = 0;

  /// Enqueues the operation on a CUDA stream. Operands are aligned to 16 bytes or to the form's
  /// alignment. Allocates no device memory. May be captured after a first run outside a capture.
  /// @throws run_error with the library's status.
  virtual void enqueue(void* cuda_stream, std::span<void* const> operands, void* workspace) = 0;
};

/// Plans operations for one device.
class cuda_library {
 public:
  virtual ~cuda_library() = default;

  /// Returns null, with the reason in `why_not`, if the library cannot run the form. The caller
  /// then tries fewer fused operations.
  virtual std::unique_ptr<library_operation> plan(const convolution_form& form,
                                                  std::string& why_not) = 0;
  virtual std::unique_ptr<library_operation> plan(const product_form& form,
                                                  std::string& why_not) = 0;
  virtual std::unique_ptr<library_operation> plan(const attention_form& form,
                                                  std::string& why_not) = 0;

  /// Returns true if the library's preferred plan for a form runs on tensor cores. Builds no plan,
  /// which can take seconds.
  virtual bool prefers_tensor_cores(const convolution_form& form) = 0;

  /// Returns the theoretical bandwidth of the device's memory, in bytes per second.
  virtual double memory_bandwidth() const = 0;
};

/// Returns a form as text, for keys of the tuning cache. Equal texts mean equal operations.
std::string to_text(const convolution_form& form);
std::string to_text(const product_form& form);
std::string to_text(const attention_form& form);

/// Returns the bytes that each operand spans, in order.
std::vector<std::size_t> operand_bytes(const convolution_form& form);
std::vector<std::size_t> operand_bytes(const product_form& form);
std::vector<std::size_t> operand_bytes(const attention_form& form);

/// Returns the libraries of a `cuda` device; not thread-safe. Opens cuDNN when a convolution is
/// first planned and cuBLASLt when a product is. With `tune`, plans are chosen by timing or taken
/// from the tuning cache; otherwise the library's heuristic chooses. `owner` leads messages: "stage
/// 'head'". Operations may outlive the library, but not the device. `plan` throws run_error if
/// cuDNN or cuBLASLt is not available.
std::unique_ptr<cuda_library> open_cuda_libraries(device& on, bool tune, std::string owner);

/// Returns the name of each library with its version or "not found", for reports.
std::vector<std::pair<std::string, std::string>> cuda_library_versions();

}  // namespace graphline::nn
