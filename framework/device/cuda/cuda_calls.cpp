#include "framework/device/cuda/cuda_calls.hpp"

#include <fmt/format.h>

namespace graphline {
namespace {

std::string describe(cudaError_t status, std::string_view call, std::string_view subject) {
  std::string text =
      fmt::format("{} for {} failed: {} ({}), {}", call, subject, cudaGetErrorName(status),
                  static_cast<int>(status), cudaGetErrorString(status));
  if (is_sticky(status)) {
    // A sticky error is seldom caused by the call that reports it.
    text += "; work enqueued earlier caused it, and the device cannot be used any more";
  } else if (status == cudaErrorCallRequiresNewerDriver ||
             status == cudaErrorUnsupportedPtxVersion) {
    text += "; the NVIDIA driver is older than the CUDA of this build: install a newer one";
  } else if (status == cudaErrorNoKernelImageForDevice) {
    text +=
        "; this build has no code for the GPU's compute capability: configure it with "
        "-DCMAKE_CUDA_ARCHITECTURES=native on the machine that has the GPU";
  }
  return text;
}

}  // namespace

cuda_error::cuda_error(cudaError_t status, std::string_view call, std::string_view subject)
    : run_error(describe(status, call, subject)), status_(status) {
  static_cast<void>(cudaGetLastError());  // clears it, so that the next launch does not report it
}

bool is_sticky(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace graphline
