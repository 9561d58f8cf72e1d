// Graphs: instantiation and launches.

#include <algorithm>
#include <map>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/objects.hpp"

namespace fake_cuda {
namespace {

/// The nodes of a graph as they are now. Every node was captured after those it depends on.
std::shared_ptr<const plan> plan_of(const CUgraph_st& graph) {
  auto made = std::make_shared<plan>();
  std::map<cudaGraphNode_t, std::size_t> places;
  for (const auto& node : graph.nodes) {
    plan_node& added = made->emplace_back();
    added.what = node->what;
    for (const cudaGraphNode_t n : node->after) added.after.push_back(places.at(n));
    places[node.get()] = made->size() - 1;
  }
  return made;
}

/// Whether every event that the nodes record still exists: the driver would write to it.
bool events_exist(const plan& nodes) {
  return std::ranges::all_of(nodes, [](const plan_node& n) {
    return n.what->event == nullptr || objects().events.has(n.what->event);
  });
}

}  // namespace

task_ref launch(const plan& nodes, const task_ref& before, int device,
                std::optional<int> priority) {
  std::vector<task_ref> ends;  // of each node
  for (const plan_node& n : nodes) {
    std::vector<task_ref> after = {before};
    for (const std::size_t i : n.after) after.push_back(ends[i]);
    const operation& what = *n.what;
    const int urgency = priority.value_or(what.priority);
    ends.push_back(the_machine().add(n.what, device, urgency, after));
    if (what.event != nullptr) {
      // Each launch is a recording of the event.
      what.event->recording = ends.back();
      what.event->captured.reset();
      what.event->captured_after.clear();
    }
  }
  ends.push_back(before);
  return the_machine().add(nothing(), device, priority.value_or(most_urgent), ends);
}

}  // namespace fake_cuda

using namespace fake_cuda;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return api("cudaGraphInstantiate", [&](locked&) {
    constexpr unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                         cudaGraphInstantiateFlagUpload |
                                         cudaGraphInstantiateFlagUseNodePriority;
    if (exec == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    if (!objects().graphs.has(graph)) return cudaErrorInvalidValue;
    *exec = objects().executables.add();
    (*exec)->device = graph->device;
    (*exec)->node_priorities = (flags & cudaGraphInstantiateFlagUseNodePriority) != 0;
    (*exec)->nodes = plan_of(*graph);
    return cudaSuccess;
  });
}

// There is nothing to upload; what can be said of the arguments is.
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return api("cudaGraphUpload", [&](locked&) {
    if (const cudaError_t status = usable_for_launch(stream); status != cudaSuccess) return status;
    if (!objects().executables.has(exec)) return cudaErrorInvalidValue;
    if (stream->capture == nullptr) return cudaSuccess;
    stream->capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return api("cudaGraphLaunch", [&](locked& lock) {
    wait_for_room(lock, stream);
    if (const cudaError_t status = usable_for_launch(stream); status != cudaSuccess) return status;
    if (!objects().executables.has(exec)) return cudaErrorInvalidValue;
    if (exec->device != stream->device) return cudaErrorInvalidResourceHandle;
    if (!events_exist(*exec->nodes)) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) return cudaErrorNotSupported;  // a child graph's node
    const task_ref begin =
        the_machine().add(nothing(), stream->device, stream->priority, {stream->last, exec->last});
    exec->last = launch(*exec->nodes, begin, stream->device,
                        exec->node_priorities ? std::nullopt : std::optional(stream->priority));
    put_last(stream, exec->last);
    return cudaSuccess;
  });
}

// A launch that is going on ends all the same.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return api("cudaGraphExecDestroy", call_kind::releasing, [&](locked&) {
    if (!objects().executables.has(exec)) return cudaErrorInvalidValue;
    objects().executables.remove(exec);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api("cudaGraphDestroy", call_kind::releasing, [&](locked&) {
    if (!objects().graphs.has(graph)) return cudaErrorInvalidValue;
    objects().graphs.remove(graph);
    return cudaSuccess;
  });
}
