#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "framework/base/precision.hpp"

namespace two_models {

/// A 3 x 3 convolution with stride 2 and padding 1 on tensors with channels last.
struct convolution_shape {
  int batch = 0;
  int in_channels = 0;
  int out_channels = 0;
  int in_height = 0;
  int in_width = 0;

  int out_height() const { return (in_height + 1) / 2; }
  int out_width() const { return (in_width + 1) / 2; }
};

/// Device memory that a convolution works on, in the type of its precision.
struct convolution_tensors {
  void* x;
  void* weights;  ///< [out_channels, 3, 3, in_channels]
  void* bias;
  void* y;
};

/// The convolution, its bias and an exact GELU as one graph of cuDNN's.
class convolution {
 public:
  virtual ~convolution() = default;

  virtual void enqueue(cudaStream_t stream) = 0;

  virtual bool usable() const = 0;  ///< whether an engine ran; the last two are about that one
  virtual const std::string& why_not() const = 0;  ///< cuDNN's reasons, of engines passed over too
  virtual double microseconds() const = 0;         ///< of the engine chosen, when it was timed
  virtual std::string engine() const = 0;          ///< as cuDNN calls it
};

/// By the fastest of the engines that compute as precisely as asked for: they are timed now, on
/// `tensors`, for 15 s at most once one of them runs.
std::unique_ptr<convolution> make_convolution(const convolution_shape& shape,
                                              graphline::precision precision,
                                              const convolution_tensors& tensors,
                                              cudaStream_t stream);

}  // namespace two_models
