#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace graphline {

/// Gives a CUDA object back. Statuses are let go: they tell of earlier failures, which a wait has
/// told, or of the end of the process.
struct cuda_deleter {
  void operator()(cudaStream_t s) const noexcept { static_cast<void>(cudaStreamDestroy(s)); }
  void operator()(cudaEvent_t e) const noexcept { static_cast<void>(cudaEventDestroy(e)); }
  void operator()(cudaGraph_t g) const noexcept { static_cast<void>(cudaGraphDestroy(g)); }
  void operator()(cudaGraphExec_t g) const noexcept { static_cast<void>(cudaGraphExecDestroy(g)); }
};

/// Owner of a cudaStream_t, cudaEvent_t, cudaGraph_t or cudaGraphExec_t.
template <class Handle>
using unique_cuda = std::unique_ptr<std::remove_pointer_t<Handle>, cuda_deleter>;

}  // namespace graphline
