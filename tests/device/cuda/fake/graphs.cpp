// Graphs: instantiation and launches.

#include <algorithm>
#include <map>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/objects.hpp"

namespace fake_cuda {
namespace {

using condition_ref = std::shared_ptr<condition>;

/// The work of a node of a body, for the launches that select it.
operation_ref if_selected(const operation& what, const condition_ref& by, unsigned body) {
  auto made = std::make_shared<operation>(what);
  made->run = [by, body, run = what.run] {
    {
      const locked lock(the_machine().mutex);
      if (by->selected != body) return cudaSuccess;
    }
    return run();
  };
  return made;
}

operation_ref decision_of(const operation& what) {
  auto made = std::make_shared<operation>(what);
  made->run = [by = what.condition] {
    const locked lock(the_machine().mutex);
    by->selected = by->value;
    return cudaSuccess;
  };
  return made;
}

bool may_be_in_body(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
         type == cudaGraphNodeTypeMemset;
}

/// A switch: a decision, every body after it, then an end. All bodies are enqueued, and what is not
/// selected does nothing. False if a body contains what CUDA does not allow there.
bool add_switch(plan& to, const CUgraphNode_st& node, std::vector<std::size_t> after) {
  const std::size_t decision = to.size();
  to.push_back({decision_of(*node.what), std::move(after)});
  std::vector<std::size_t> ends = {decision};
  for (unsigned body = 0; body < node.bodies.size(); ++body) {
    std::map<cudaGraphNode_t, std::size_t> places;
    for (const auto& inner : node.bodies[body]->nodes) {
      if (!may_be_in_body(inner->what->type)) return false;
      std::vector<std::size_t> before = {decision};
      for (const cudaGraphNode_t n : inner->after) before.push_back(places.at(n));
      ends.push_back(places[inner.get()] = to.size());
      to.push_back({if_selected(*inner->what, node.what->condition, body), std::move(before)});
    }
  }
  to.push_back({nothing(), std::move(ends)});
  return true;
}

/// The nodes of a graph as they are now. Every node was captured after those it depends on. Null if
/// a body contains what it must not.
std::shared_ptr<const plan> plan_of(const CUgraph_st& graph) {
  auto made = std::make_shared<plan>();
  std::map<cudaGraphNode_t, std::size_t> places;
  for (const auto& node : graph.nodes) {
    std::vector<std::size_t> after;
    for (const cudaGraphNode_t n : node->after) after.push_back(places.at(n));
    if (node->what->type == cudaGraphNodeTypeConditional) {
      if (!add_switch(*made, *node, std::move(after))) return nullptr;
    } else {
      made->push_back({node->what, std::move(after)});
    }
    places[node.get()] = made->size() - 1;
  }
  return made;
}

/// "Only one instantiation of the graph may exist at any point in time", of one with a conditional
/// node.
bool is_instantiated(cudaGraph_t graph) {
  return std::ranges::any_of(objects().executables,
                             [&](const auto& exec) { return exec->graph == graph; });
}

/// Gives conditions their values at the begin of a launch.
operation_ref begin_of(const std::vector<condition_ref>& conditions) {
  if (conditions.empty()) return nothing();
  auto made = std::make_shared<operation>();
  made->run = [conditions] {
    const locked lock(the_machine().mutex);
    for (const condition_ref& c : conditions) c->value = c->initial;
    return cudaSuccess;
  };
  return made;
}

/// Whether every event that the nodes record still exists: the driver would write to it.
bool events_exist(const plan& nodes) {
  return std::ranges::all_of(nodes, [](const plan_node& n) {
    return n.what->event == nullptr || objects().events.has(n.what->event);
  });
}

}  // namespace

void remove_graph(cudaGraph_t graph) {
  for (const auto& node : graph->nodes) {
    for (const cudaGraph_t body : node->bodies) remove_graph(body);
  }
  objects().graphs.remove(graph);
}

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
    if (!graph->conditions.empty() && is_instantiated(graph)) return cudaErrorInvalidValue;
    if (!std::ranges::all_of(graph->conditions, &condition::is_used)) return cudaErrorInvalidValue;
    auto nodes = plan_of(*graph);
    if (nodes == nullptr) return cudaErrorInvalidValue;
    *exec = objects().executables.add();
    (*exec)->device = graph->device;
    (*exec)->graph = graph;
    (*exec)->conditions = graph->conditions;
    (*exec)->node_priorities = (flags & cudaGraphInstantiateFlagUseNodePriority) != 0;
    (*exec)->nodes = std::move(nodes);
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
    // Conditions belong to the graph.
    if (!exec->conditions.empty() && !objects().graphs.has(exec->graph)) {
      return cudaErrorInvalidResourceHandle;
    }
    const task_ref begin = the_machine().add(begin_of(exec->conditions), stream->device,
                                             stream->priority, {stream->last, exec->last});
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
    if (!objects().graphs.has(graph) || graph->is_body) return cudaErrorInvalidValue;
    remove_graph(graph);
    return cudaSuccess;
  });
}
