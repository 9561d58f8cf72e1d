#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace graphline {

/// Loads the kernel of `set_condition`. A capture that loads it at its first launch may fail.
cudaError_t load_set_condition();

/// Launches a kernel that sets the condition of a conditional node to `*selector`.
cudaError_t set_condition(cudaStream_t stream, cudaGraphConditionalHandle condition,
                          const std::uint32_t* selector);

}  // namespace graphline
