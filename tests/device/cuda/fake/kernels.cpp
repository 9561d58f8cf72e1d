// What runs code: kernels, made of functions by the test, and host functions.

#include <algorithm>
#include <string>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/device/cuda/fake/memory.hpp"
#include "tests/device/cuda/fake/objects.hpp"

namespace fake_cuda {
namespace {

/// The names of kernels; the address of one is what a node has as its function.
std::set<std::string>& kernel_names() {
  static auto* const only = new std::set<std::string>;
  return *only;
}

/// Whether a device can read and write all of these; null is none.
bool within_reach(const std::vector<const void*>& operands) {
  const locked lock(the_machine().mutex);
  return std::ranges::none_of(operands, [](const void* operand) {
    return operand != nullptr && place_of(operand, 1) == place::elsewhere;
  });
}

cudaError_t launch(const char* call, bool by_driver, cudaStream_t stream, const std::string& name,
                   std::function<cudaError_t()> work, std::vector<const void*> operands) {
  return api(call, [&](locked& lock) {
    wait_for_room(lock, stream);
    if (const cudaError_t status = usable_for_launch(stream); status != cudaSuccess) return status;
    auto what = std::make_shared<operation>();
    what->type = cudaGraphNodeTypeKernel;
    what->by_driver = by_driver;
    what->device = stream->device;
    what->priority = stream->priority;
    what->kernel.func = const_cast<std::string*>(&*kernel_names().insert(name).first);
    what->kernel.gridDim = {1, 1, 1};
    what->kernel.blockDim = {1, 1, 1};
    what->run = [work = std::move(work), operands = std::move(operands)] {
      return within_reach(operands) ? work() : cudaErrorIllegalAddress;
    };
    submit(stream, what);
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t launch_kernel(cudaStream_t stream, const std::string& name,
                          std::function<cudaError_t()> work, std::vector<const void*> operands) {
  return launch("cudaLaunchKernel", false, stream, name, std::move(work), std::move(operands));
}

cudaError_t launch_library_kernel(cudaStream_t stream, const std::string& name,
                                  std::function<cudaError_t()> work) {
  return launch("cuLaunchKernel", true, stream, name, std::move(work), {});
}

}  // namespace fake_cuda

using namespace fake_cuda;

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return api("cudaLaunchHostFunc", [&](locked& lock) {
    wait_for_room(lock, stream);
    if (function == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t status = usable_for_launch(stream); status != cudaSuccess) return status;
    auto what = std::make_shared<operation>();
    what->type = cudaGraphNodeTypeHost;
    what->device = stream->device;
    what->priority = stream->priority;
    what->host = {function, data};
    what->run = [=] {
      function(data);
      return cudaSuccess;
    };
    submit(stream, what);
    return cudaSuccess;
  });
}
