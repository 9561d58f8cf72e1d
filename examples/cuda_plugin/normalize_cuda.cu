// my.normalize for the device `cuda`: a kernel and its launch on Graphline's stream.

#include <cuda_runtime.h>
#include <framework/base/error.hpp>

#include <string>

#include "normalize.hpp"

namespace my {
namespace {

__global__ void normalize_kernel(normalization n) {
  normalize_share(n, {blockIdx.x, gridDim.x, blockIdx.y, gridDim.y, threadIdx.x, blockDim.x});
}

class normalize_work final : public graphline::device_work {
 public:
  normalize_work(const normalization& n, const std::string& stage) : n_(n), stage_(stage) {}

  // Launches the kernel. With graphs, this runs during capture, and frames replay the launch.
  void enqueue(graphline::stream& s) override {
    const auto stream = static_cast<cudaStream_t>(s.native());
    const grid_extents grid = grid_for(n_);
    normalize_kernel<<<dim3(grid.columns, grid.rows), threads_per_block, 0, stream>>>(n_);
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
      throw graphline::run_error("stage '" + stage_ + "': launching normalize_kernel failed: " +
                                 cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
    }
  }

 private:
  normalization n_;
  const std::string& stage_;  // owned by the stage, which outlives this object
};

class normalize_stage final : public graphline::device_stage {
 public:
  normalize_stage(graphline::device& d, const graphline::stage_config& config)
      : name_(config.name), constants_(d, config) {}

  std::unique_ptr<graphline::device_work> bind(const graphline::stage_tensors& tensors) override {
    return std::make_unique<normalize_work>(constants_.on(tensors), name_);
  }

 private:
  std::string name_;
  channel_constants constants_;
};

}  // namespace

std::unique_ptr<graphline::device_stage> make_normalize_cuda(
    graphline::device& d, const graphline::stage_config& config) {
  return std::make_unique<normalize_stage>(d, config);
}

}  // namespace my
