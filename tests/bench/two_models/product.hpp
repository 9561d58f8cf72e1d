#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "framework/base/precision.hpp"

namespace two_models {

/// A fully connected layer without its bias: y = x w^T with x [rows, in], w [out, in] and
/// y [rows, out], by the fastest of cuBLASLt's first suggestions, timed when it is made.
class product {
 public:
  virtual ~product() = default;
  virtual void enqueue(cudaStream_t stream) = 0;
};

std::unique_ptr<product> make_product(int rows, int in, int out, graphline::precision precision,
                                      const void* x, const void* w, void* y, cudaStream_t stream);

}  // namespace two_models
