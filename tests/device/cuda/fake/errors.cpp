// The names of the statuses that the fake returns and that tests look for, as CUDA has them.

#include <cuda_runtime_api.h>

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define GRAPHLINE_NAMED(status) \
  case status:                  \
    return #status;
    GRAPHLINE_NAMED(cudaErrorInvalidValue)
    GRAPHLINE_NAMED(cudaErrorMemoryAllocation)
    GRAPHLINE_NAMED(cudaErrorInvalidResourceHandle)
    GRAPHLINE_NAMED(cudaErrorIllegalAddress)
    GRAPHLINE_NAMED(cudaErrorLaunchFailure)
    GRAPHLINE_NAMED(cudaErrorNotPermitted)
    GRAPHLINE_NAMED(cudaErrorPeerAccessAlreadyEnabled)
    GRAPHLINE_NAMED(cudaErrorStreamCaptureUnsupported)
    GRAPHLINE_NAMED(cudaErrorStreamCaptureInvalidated)
#undef GRAPHLINE_NAMED
    default:
      return "another status";
  }
}

const char* cudaGetErrorString(cudaError_t /*error*/) {
  return "a failure of the fake";
}
