#include "framework/device/cuda/switch_kernel.hpp"

namespace graphline {
namespace {

__global__ void select_body(cudaGraphConditionalHandle condition, const std::uint32_t* selector) {
  cudaGraphSetConditional(condition, *selector);
}

}  // namespace

cudaError_t load_set_condition() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, select_body);
}

cudaError_t set_condition(cudaStream_t stream, cudaGraphConditionalHandle condition,
                          const std::uint32_t* selector) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, select_body, condition, selector);
}

}  // namespace graphline
