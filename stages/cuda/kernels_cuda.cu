#include "stages/cuda/kernels.hpp"

#include "stages/cuda/convert.cuh"
#include "stages/cuda/gemv.cuh"
#include "stages/cuda/launch.cuh"
#include "stages/cuda/layer_norm.cuh"
#include "stages/cuda/pointwise.cuh"
#include "stages/cuda/pool.cuh"
#include "stages/cuda/softmax.cuh"
#include "stages/cuda/sum.cuh"

namespace graphline {

namespace {

const char* name_of(const convert_form&) {
  return "convert";
}
const char* name_of(const pointwise_form&) {
  return "pointwise";
}
const char* name_of(const pool_form&) {
  return "pool";
}
const char* name_of(const softmax_form&) {
  return "softmax";
}
const char* name_of(const gemv_form&) {
  return "gemv";
}
const char* name_of(const sum_form&) {
  return "sum";
}
const char* name_of(const layer_norm_form&) {
  return "layer_norm";
}

}  // namespace

void enqueue_kernel(const kernel_form& form, std::span<void* const> operands, void* cuda_stream,
                    const std::string& owner) {
  std::visit(
      [&](const auto& kind) {
        run(kind, operands,
            kernel_launcher(static_cast<cudaStream_t>(cuda_stream), name_of(kind), owner));
      },
      form);
}

}  // namespace graphline
