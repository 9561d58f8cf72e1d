// The names and texts of the statuses that the fake returns, and of those a test may want a kernel
// to end with; all as CUDA has them.

#include <cuda_runtime_api.h>

namespace {

struct described {
  cudaError_t status;
  const char* name;
  const char* text;
};

#define GRAPHLINE_STATUS(name, text) \
  { name, #name, text }

constexpr described table[] = {
    GRAPHLINE_STATUS(cudaSuccess, "no error"),
    GRAPHLINE_STATUS(cudaErrorInvalidValue, "invalid argument"),
    GRAPHLINE_STATUS(cudaErrorMemoryAllocation, "out of memory"),
    GRAPHLINE_STATUS(cudaErrorInitializationError, "initialization error"),
    GRAPHLINE_STATUS(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    GRAPHLINE_STATUS(cudaErrorInsufficientDriver,
                     "CUDA driver version is insufficient for CUDA runtime version"),
    GRAPHLINE_STATUS(cudaErrorDevicesUnavailable,
                     "CUDA-capable device(s) is/are busy or unavailable"),
    GRAPHLINE_STATUS(cudaErrorInvalidDeviceFunction, "invalid device function"),
    GRAPHLINE_STATUS(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    GRAPHLINE_STATUS(cudaErrorInvalidDevice, "invalid device ordinal"),
    GRAPHLINE_STATUS(cudaErrorDeviceUninitialized, "invalid device context"),
    GRAPHLINE_STATUS(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    GRAPHLINE_STATUS(cudaErrorIllegalState,
                     "the operation cannot be performed in the present state"),
    GRAPHLINE_STATUS(cudaErrorNotReady, "device not ready"),
    GRAPHLINE_STATUS(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    GRAPHLINE_STATUS(cudaErrorAssert, "device-side assert triggered"),
    GRAPHLINE_STATUS(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    GRAPHLINE_STATUS(cudaErrorMisalignedAddress, "misaligned address"),
    GRAPHLINE_STATUS(cudaErrorLaunchFailure, "unspecified launch failure"),
    GRAPHLINE_STATUS(cudaErrorNotPermitted, "operation not permitted"),
    GRAPHLINE_STATUS(cudaErrorNotSupported, "operation not supported"),
    GRAPHLINE_STATUS(cudaErrorStreamCaptureUnsupported,
                     "operation not permitted when stream is capturing"),
    GRAPHLINE_STATUS(cudaErrorStreamCaptureInvalidated,
                     "operation failed due to a previous error during capture"),
    GRAPHLINE_STATUS(cudaErrorStreamCaptureMerge,
                     "operation would result in a merge of separate capture sequences"),
    GRAPHLINE_STATUS(cudaErrorStreamCaptureUnmatched,
                     "capture was not ended in the same stream as it began"),
    GRAPHLINE_STATUS(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    GRAPHLINE_STATUS(cudaErrorStreamCaptureIsolation,
                     "dependency created on uncaptured work in another stream"),
    GRAPHLINE_STATUS(cudaErrorCapturedEvent,
                     "operation not permitted on an event last recorded in a capturing stream"),
    GRAPHLINE_STATUS(cudaErrorStreamCaptureWrongThread,
                     "attempt to terminate a thread-local capture sequence from another thread"),
    GRAPHLINE_STATUS(cudaErrorUnknown, "unknown error"),
};

#undef GRAPHLINE_STATUS

constexpr described unrecognized = {cudaErrorUnknown, "unrecognized error code",
                                    "unrecognized error code"};

const described& find(cudaError_t status) {
  for (const described& d : table) {
    if (d.status == status) return d;
  }
  return unrecognized;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  return find(error).name;
}

const char* cudaGetErrorString(cudaError_t error) {
  return find(error).text;
}
