#pragma once

// CUDA 13's names for functions and types that CUDA 12.8 and 12.9 name differently.

#include <cuda_runtime_api.h>
#include <cupti.h>

namespace graphline {

#if CUDART_VERSION < 13000
#define cudaGraphAddNode cudaGraphAddNode_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#undef cudaStreamGetCaptureInfo  // a macro for an older version
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2

using cupti_kernel = CUpti_ActivityKernel9;
#else
using cupti_kernel = CUpti_ActivityKernel10;
#endif

}  // namespace graphline
