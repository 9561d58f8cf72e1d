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

/// The convolution, its bias and an exact GELU as one graph of cuDNN's, by the fastest of the
/// engines that compute as precisely as asked for: they are timed at construction, on `tensors`,
/// for 15 s at most once one of them runs.
class convolution {
 public:
  convolution(const convolution_shape& shape, graphline::precision precision,
              const convolution_tensors& tensors, cudaStream_t stream);
  ~convolution();
  convolution(convolution&&) noexcept;
  convolution& operator=(convolution&&) noexcept;

  void enqueue(cudaStream_t stream);

  bool usable() const;                 ///< whether an engine ran; what follows is about that one
  const std::string& why_not() const;  ///< cuDNN's reasons, also those for engines passed over
  double microseconds() const;         ///< of the engine chosen, when it was timed
  std::string engine() const;          ///< as cuDNN calls it

 private:
  class implementation;
  std::unique_ptr<implementation> impl_;
};

}  // namespace two_models
