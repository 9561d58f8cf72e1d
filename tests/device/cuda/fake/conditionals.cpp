// Conditional nodes, of which this project uses switches.

#include <algorithm>
#include <cstdint>

#include "framework/device/cuda/cuda_versions.hpp"
#include "framework/device/cuda/switch_kernel.hpp"
#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/device/cuda/fake/objects.hpp"

using namespace fake_cuda;

namespace {

std::shared_ptr<condition> find_in(const CUgraph_st& graph, cudaGraphConditionalHandle handle) {
  const auto found = std::ranges::find(graph.conditions, handle, [](const auto& c) {
    return reinterpret_cast<std::uintptr_t>(c.get());
  });
  return found == graph.conditions.end() ? nullptr : *found;
}

/// cudaGraphSetConditional, which kernels call.
cudaError_t set(cudaGraphConditionalHandle handle, unsigned value) {
  const locked lock(the_machine().mutex);
  for (const auto& graph : objects().graphs) {
    if (const auto found = find_in(*graph, handle)) {
      found->value = value;
      return cudaSuccess;
    }
  }
  return cudaErrorIllegalAddress;
}

bool has_node(const CUgraph_st& graph, cudaGraphNode_t node) {
  return std::ranges::any_of(graph.nodes, [&](const auto& n) { return n.get() == node; });
}

}  // namespace

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned initial, unsigned flags) {
  return api("cudaGraphConditionalHandleCreate", [&](locked&) {
    if (!objects().graphs.has(graph)) return cudaErrorInvalidValue;
    if (flags != cudaGraphCondAssignDefault) return cudaErrorNotSupported;
    const auto& made = graph->conditions.emplace_back(std::make_shared<condition>());
    made->initial = initial;
    *handle = reinterpret_cast<std::uintptr_t>(made.get());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* /*data*/, size_t count,
                             cudaGraphNodeParams* params) {
  return api("cudaGraphAddNode", [&](locked&) {
    if (!objects().graphs.has(graph)) return cudaErrorInvalidValue;
    cudaConditionalNodeParams& given = params->conditional;
    if (params->type != cudaGraphNodeTypeConditional || given.type != cudaGraphCondTypeSwitch) {
      return cudaErrorNotSupported;
    }
    const auto by = find_in(*graph, given.handle);
    if (by == nullptr || by->is_used || given.size == 0) return cudaErrorInvalidValue;
    auto made = std::make_unique<CUgraphNode_st>();
    made->after.assign(after, after + count);
    for (const cudaGraphNode_t n : made->after) {
      if (!has_node(*graph, n)) return cudaErrorInvalidValue;
    }
    by->is_used = true;
    auto what = std::make_shared<operation>();
    what->type = cudaGraphNodeTypeConditional;
    what->device = graph->device;
    what->condition = by;
    made->what = std::move(what);
    for (unsigned i = 0; i < given.size; ++i) {
      made->bodies.push_back(objects().graphs.add());
      made->bodies.back()->is_body = true;
    }
    given.phGraph_out = made->bodies.data();
    *node = made.get();
    graph->nodes.push_back(std::move(made));
    return cudaSuccess;
  });
}

// In place of the project's own kernel.

namespace graphline {

cudaError_t load_set_condition() {
  return api("cudaFuncGetAttributes", [](locked&) { return refuse_unsafe(); });
}

cudaError_t set_condition(cudaStream_t stream, cudaGraphConditionalHandle condition,
                          const std::uint32_t* selector) {
  return launch_kernel(stream, "select_body", [=] { return set(condition, *selector); },
                       {selector});
}

}  // namespace graphline
