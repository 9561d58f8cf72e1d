#include <fmt/format.h>

#include "framework/device/cuda/cuda_device.hpp"
#include "framework/device/cuda/cuda_properties.hpp"
#include "framework/device/cuda/cuda_status.hpp"

namespace graphline {
namespace {

/// Why cudaGetDeviceCount failed, and what would help.
std::string describe_absence(cudaError_t status) {
  int driver = 0;
  int runtime = 0;
  const bool knows_driver = cudaDriverGetVersion(&driver) == cudaSuccess;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  if (status == cudaErrorInsufficientDriver) {
    if (!knows_driver || driver == 0) {
      return "no NVIDIA driver is installed; this program needs one for CUDA " +
             cuda_version_text(runtime) + " or newer";
    }
    return fmt::format(
        "the NVIDIA driver is too old: it is for CUDA {}, and this program needs one for CUDA {} "
        "or newer",
        cuda_version_text(driver), cuda_version_text(runtime));
  }
  if (status == cudaErrorNoDevice) {
    return "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides those it does not name)";
  }
  return fmt::format("cudaGetDeviceCount failed: {} ({}), {}", cudaGetErrorName(status),
                     static_cast<int>(status), cudaGetErrorString(status));
}

std::vector<device_properties> list_cuda(std::string& reason) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // it would be reported again by a later call
    reason = describe_absence(status);
    return {};
  }
  std::vector<device_properties> found;
  for (int i = 0; i < count; ++i) found.push_back(cuda_properties(i));
  return found;
}

std::unique_ptr<device> open_cuda(int index, const device_request& /*request*/) {
  return open_cuda_device(index);
}

}  // namespace

backend cuda_backend() {
  return {"cuda", &list_cuda, &open_cuda};
}

}  // namespace graphline
