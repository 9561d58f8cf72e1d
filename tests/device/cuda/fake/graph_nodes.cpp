// What can be asked of a graph: its nodes, their dependencies and what each does.

#include <algorithm>

#include "framework/device/cuda/cuda_versions.hpp"
#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/objects.hpp"

using namespace fake_cuda;

namespace {

bool is_node(cudaGraphNode_t node) {
  for (const auto& g : objects().graphs) {
    for (const auto& n : g->nodes) {
      if (n.get() == node) return true;
    }
  }
  return false;
}

/// Answers as CUDA does: the number without an array; else as many as fit, null beyond the last.
void answer(const node_list& found, cudaGraphNode_t* array, size_t* count) {
  if (array != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) array[i] = i < found.size() ? found[i] : nullptr;
    *count = std::min(*count, found.size());
  } else {
    *count = found.size();
  }
}

/// Hands out one of an operation's parameter sets, when the node is of that type.
template <class Params>
cudaError_t give(cudaGraphNode_t node, cudaGraphNodeType type, Params operation::*which,
                 Params* params) {
  if (params == nullptr || !is_node(node) || node->what->type != type) {
    return cudaErrorInvalidValue;
  }
  *params = (*node->what).*which;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* array, size_t* count) {
  return api("cudaGraphGetNodes", [&](locked&) {
    if (!objects().graphs.has(graph) || count == nullptr) return cudaErrorInvalidValue;
    node_list all;
    for (const auto& n : graph->nodes) all.push_back(n.get());
    answer(all, array, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return api("cudaGraphGetEdges", [&](locked&) {
    if (!objects().graphs.has(graph) || count == nullptr) return cudaErrorInvalidValue;
    if ((from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    if (data != nullptr && from == nullptr) return cudaErrorInvalidValue;
    node_list sources;
    node_list targets;
    for (const auto& n : graph->nodes) {
      for (const cudaGraphNode_t before : n->after) {
        sources.push_back(before);
        targets.push_back(n.get());
      }
    }
    for (std::size_t i = 0; data != nullptr && i < *count; ++i) data[i] = {};
    std::size_t also = *count;
    answer(sources, from, &also);
    answer(targets, to, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return api("cudaGraphNodeGetType", [&](locked&) {
    if (!is_node(node)) return cudaErrorInvalidValue;
    *type = node->what->type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return api("cudaGraphMemcpyNodeGetParams", [&](locked&) {
    return give(node, cudaGraphNodeTypeMemcpy, &operation::copy, params);
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return api("cudaGraphMemsetNodeGetParams", [&](locked&) {
    return give(node, cudaGraphNodeTypeMemset, &operation::fill, params);
  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return api("cudaGraphHostNodeGetParams",
             [&](locked&) { return give(node, cudaGraphNodeTypeHost, &operation::host, params); });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return api("cudaGraphEventRecordNodeGetEvent", [&](locked&) {
    return give(node, cudaGraphNodeTypeEventRecord, &operation::event, event);
  });
}
