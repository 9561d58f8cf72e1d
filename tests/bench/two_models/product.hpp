#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "framework/base/precision.hpp"

namespace two_models {

/// A fully connected layer without its bias: y = x w^T with x [rows, in], w [out, in] and
/// y [rows, out], by the fastest of cuBLASLt's first suggestions, timed at construction.
class product {
 public:
  product(int rows, int in, int out, graphline::precision precision, const void* x, const void* w,
          void* y, cudaStream_t stream);
  ~product();
  product(product&&) noexcept;
  product& operator=(product&&) noexcept;

  void enqueue(cudaStream_t stream);

 private:
  class implementation;
  std::unique_ptr<implementation> impl_;
};

}  // namespace two_models
