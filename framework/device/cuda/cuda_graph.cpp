#include "framework/device/cuda/cuda_graph.hpp"

#include <utility>

#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_graph_nodes.hpp"

namespace graphline {

cuda_graph_exec::cuda_graph_exec(cuda_engine& engine, cudaGraph_t graph, std::string name,
                                 stamp_names stamps)
    : engine_(engine), name_(std::move(name)), stamps_(std::move(stamps)) {
  engine_.make_current();
  const cuda_subject subject{"the graph of stream", name_};
  cudaGraphExec_t made = nullptr;
  engine_.check(cudaGraphInstantiate(&made, graph, cudaGraphInstantiateFlagUseNodePriority),
                "cudaGraphInstantiate", subject);
  handle_.reset(made);
  const cudaStream_t setup = engine_.setup.get();
  engine_.check(cudaGraphUpload(made, setup), "cudaGraphUpload", subject);
  engine_.check(cudaStreamSynchronize(setup), "cudaStreamSynchronize", subject);
}

cuda_graph_exec::~cuda_graph_exec() {
  engine_.make_current();
}

cuda_graph::cuda_graph(cuda_engine& engine, unique_cuda<cudaGraph_t> captured, std::string name,
                       stamp_names stamps)
    : engine_(engine),
      captured_(std::move(captured)),
      name_(std::move(name)),
      stamps_(std::move(stamps)) {}

cuda_graph::~cuda_graph() {
  engine_.make_current();
}

std::vector<graph_node> cuda_graph::nodes() const {
  return list_nodes(engine_, captured_.get(), name_, stamps_);
}

std::unique_ptr<graph_exec> cuda_graph::instantiate() const {
  return std::make_unique<cuda_graph_exec>(engine_, captured_.get(), name_, stamps_);
}

}  // namespace graphline
