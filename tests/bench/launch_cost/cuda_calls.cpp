#include <cuda_runtime_api.h>

#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_graph.hpp"
#include "tests/bench/launch_cost/bare_calls.hpp"

namespace launch_cost {

using graphline::check_cuda;

bare_calls cuda_calls(const graphline::bound_stage& stage) {
  const auto stream = static_cast<cudaStream_t>(stage.on->native());
  const cudaGraphExec_t executable =
      dynamic_cast<const graphline::cuda_graph_exec&>(*stage.variants[0].executable).handle();
  // Never destroyed.
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check_cuda(cudaEventCreate(&begin), "cudaEventCreate", "the bare calls");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate", "the bare calls");
  const auto launch = [=] {
    check_cuda(cudaGraphLaunch(executable, stream), "cudaGraphLaunch", "the bare calls");
  };
  const auto launch_between_events = [=] {
    check_cuda(cudaEventRecord(begin, stream), "cudaEventRecord", "the bare calls");
    launch();
    check_cuda(cudaEventRecord(end, stream), "cudaEventRecord", "the bare calls");
  };
  return {launch, launch_between_events};
}

}  // namespace launch_cost
