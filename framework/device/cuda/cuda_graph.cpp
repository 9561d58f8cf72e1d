#include "framework/device/cuda/cuda_graph.hpp"

#include <cuda.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_stream.hpp"
#include "framework/device/cuda/cuda_versions.hpp"

namespace graphline {
namespace {

/// Returns a function of the driver; null if missing. The program does not link against the driver,
/// so that it starts without one. Not cached, because graphs are listed once, outside measurements.
template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, 12030, cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return reinterpret_cast<Function>(found);
}

using get_params = CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
using get_function_name = CUresult (*)(const char**, CUfunction);
using get_kernel_name = CUresult (*)(const char**, CUkernel);

using indices = std::vector<std::size_t>;

/// Lists the nodes of a graph.
class lister {
 public:
  lister(cuda_engine& engine, const std::string& name, const stamp_names& stamps,
         const switch_bodies& switches)
      : engine_(engine),
        subject_{"the graph of stream", name},
        stamps_(stamps),
        switches_(switches) {}

  /// Returns the nodes in topological order.
  std::vector<graph_node> list(cudaGraph_t graph) {
    list_from(graph, {}, std::nullopt);
    return std::move(listed_);
  }

 private:
  /// Lists a graph, or a body of a switch. Its first nodes depend on those at `roots`.
  void list_from(cudaGraph_t graph, const indices& roots, std::optional<std::size_t> body) {
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    std::map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> predecessors = edges_of(graph);
    std::map<cudaGraphNode_t, std::size_t> places;
    while (places.size() < nodes.size()) {
      for (const cudaGraphNode_t node : nodes) {
        const auto& earlier = predecessors[node];
        const auto has_place = [&](cudaGraphNode_t n) { return places.contains(n); };
        if (has_place(node) || !std::ranges::all_of(earlier, has_place)) continue;
        indices after = earlier.empty() ? roots : indices{};
        for (const cudaGraphNode_t n : earlier) after.push_back(places[n]);
        std::ranges::sort(after);
        const std::size_t place = listed_.size();
        places[node] = place;
        listed_.push_back(describe(node));
        listed_.back().after = std::move(after);
        listed_.back().body = body;
        const auto found = switches_.find(node);
        if (found == switches_.end()) continue;
        for (std::size_t i = 0; i < found->second.size(); ++i) {
          list_from(found->second[i], {place}, i);
        }
      }
    }
  }

  std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> nodes(count);
    if (count > 0) check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
    return nodes;
  }

  std::map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> edges_of(cudaGraph_t graph) {
    std::size_t count = 0;
    check(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), "cudaGraphGetEdges");
    std::vector<cudaGraphNode_t> from(count);
    std::vector<cudaGraphNode_t> to(count);
    std::vector<cudaGraphEdgeData> data(count);
    if (count > 0) {
      check(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count),
            "cudaGraphGetEdges");
    }
    std::map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> predecessors;
    for (std::size_t i = 0; i < count; ++i) predecessors[to[i]].push_back(from[i]);
    return predecessors;
  }

  /// Describes a node for reports. Omits details that CUDA does not report.
  graph_node describe(cudaGraphNode_t node) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
    switch (type) {
      case cudaGraphNodeTypeKernel:
        return {kernel_name(node), "operation", {}};
      case cudaGraphNodeTypeMemcpy: {
        cudaMemcpy3DParms copy{};
        if (!told(cudaGraphMemcpyNodeGetParams(node, &copy))) return {"copy", "copy", {}};
        const std::size_t bytes = copy.extent.width * copy.extent.height * copy.extent.depth;
        return {"copy " + format_bytes(bytes), "copy", {}};
      }
      case cudaGraphNodeTypeMemset: {
        cudaMemsetParams fill{};
        if (!told(cudaGraphMemsetNodeGetParams(node, &fill))) return {"fill", "fill", {}};
        return {"fill " + format_bytes(fill.elementSize * fill.width * fill.height), "fill", {}};
      }
      case cudaGraphNodeTypeHost: {
        cudaHostNodeParams call{};
        const bool ours = told(cudaGraphHostNodeGetParams(node, &call)) &&
                          call.fn == &call_host_function;  // else a library or plug-in added it
        if (!ours) return {"call", "call", {}};
        return {std::string(static_cast<const host_function*>(call.userData)->name()), "call", {}};
      }
      case cudaGraphNodeTypeEventRecord: {
        cudaEvent_t event = nullptr;
        const bool known = told(cudaGraphEventRecordNodeGetEvent(node, &event));
        const auto found = known ? stamps_.find(event) : stamps_.end();
        return {found == stamps_.end() ? "event" : found->second, "stamp", {}};
      }
      case cudaGraphNodeTypeConditional: {
        const auto found = switches_.find(node);
        if (found == switches_.end()) return {"conditional", "switch", {}};  // of a library
        return {switch_name(found->second.size()), "switch", {}};
      }
      case cudaGraphNodeTypeGraph:
        return {"graph", "operation", {}};
      default:
        return {"empty", "empty", {}};
    }
  }

  static bool told(cudaError_t status) {
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());  // no launch may report it
    return status == cudaSuccess;
  }

  void check(cudaError_t status, const char* call) { engine_.check(status, call, subject_); }

  cuda_engine& engine_;
  const cuda_subject subject_;
  const stamp_names& stamps_;
  const switch_bodies& switches_;
  std::vector<graph_node> listed_;
};

}  // namespace

cuda_graph_exec::cuda_graph_exec(cuda_engine& engine, std::shared_ptr<CUgraph_st> graph,
                                 std::string name, bool has_switch)
    : engine_(engine), name_(std::move(name)), graph_(std::move(graph)), has_switch_(has_switch) {
  engine_.make_current();
  const cuda_subject subject{"the graph of stream", name_};
  cudaGraphExec_t made = nullptr;
  engine_.check(cudaGraphInstantiate(&made, graph_.get(), cudaGraphInstantiateFlagUseNodePriority),
                "cudaGraphInstantiate", subject);
  handle_.reset(made);
  const cudaStream_t setup = engine_.setup.get();
  engine_.check(cudaGraphUpload(made, setup), "cudaGraphUpload", subject);
  engine_.check(cudaStreamSynchronize(setup), "cudaStreamSynchronize", subject);
}

cuda_graph_exec::~cuda_graph_exec() {
  engine_.make_current();
  // The graph owns the conditions, which a launch uses.
  if (has_switch_) static_cast<void>(cudaDeviceSynchronize());
}

cuda_graph::cuda_graph(cuda_engine& engine, unique_cuda<cudaGraph_t> captured, std::string name,
                       stamp_names stamps, switch_bodies switches)
    : engine_(engine),
      captured_(std::move(captured)),
      name_(std::move(name)),
      stamps_(std::move(stamps)),
      switches_(std::move(switches)) {}

cuda_graph::~cuda_graph() {
  engine_.make_current();
}

std::vector<graph_node> cuda_graph::nodes() const {
  engine_.make_current();  // kernel names require a current context
  return lister(engine_, name_, stamps_, switches_).list(captured_.get());
}

std::unique_ptr<graph_exec> cuda_graph::instantiate() const {
  return std::make_unique<cuda_graph_exec>(engine_, captured_, name_, !switches_.empty());
}

// Asks the driver, which also knows kernels that libraries launched.
std::string kernel_name(cudaGraphNode_t node) {
  const auto params_of = driver_function<get_params>("cuGraphKernelNodeGetParams");
  const auto name_of_function = driver_function<get_function_name>("cuFuncGetName");
  const auto name_of_kernel = driver_function<get_kernel_name>("cuKernelGetName");
  if (params_of == nullptr || name_of_function == nullptr || name_of_kernel == nullptr) {
    return "kernel";
  }
  CUDA_KERNEL_NODE_PARAMS params{};
  const char* name = nullptr;
  const bool told = params_of(node, &params) == CUDA_SUCCESS &&
                    (params.func != nullptr ? name_of_function(&name, params.func)
                                            : name_of_kernel(&name, params.kern)) == CUDA_SUCCESS;
  return told && name != nullptr ? demangled(name) : "kernel";
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return name;
  std::string whole = text.get();
  // The parameter list is the last outermost pair of parentheses.
  int depth = 0;
  for (std::size_t i = whole.size(); i-- > 0;) {
    if (whole[i] == ')') ++depth;
    if (whole[i] == '(' && --depth == 0) {
      whole.resize(i);
      break;
    }
  }
  return whole;
}

}  // namespace graphline
