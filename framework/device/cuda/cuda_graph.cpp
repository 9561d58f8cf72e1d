#include "framework/device/cuda/cuda_graph.hpp"

#include <cuda.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_stream.hpp"
#include "framework/device/cuda/cuda_versions.hpp"

namespace graphline {
namespace {

/// A function of the driver, which is there once a device is open; null when it has none of that
/// name. Asked for each time, since a graph is listed once and never where time counts. The program
/// is not linked with the driver, so that it starts where there is none.
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

/// By the driver, which also knows the kernels that libraries launched.
const char* name_from_driver(cudaGraphNode_t node) {
  const auto params_of = driver_function<get_params>("cuGraphKernelNodeGetParams");
  const auto function_name = driver_function<get_function_name>("cuFuncGetName");
  const auto name_of_kernel = driver_function<get_kernel_name>("cuKernelGetName");
  CUDA_KERNEL_NODE_PARAMS params{};
  if (params_of == nullptr || params_of(node, &params) != CUDA_SUCCESS) return nullptr;
  const char* name = nullptr;
  if (params.func != nullptr) {
    if (function_name != nullptr) static_cast<void>(function_name(&name, params.func));
  } else if (name_of_kernel != nullptr && params.kern != nullptr) {
    static_cast<void>(name_of_kernel(&name, params.kern));
  }
  return name;
}

/// By the runtime, which knows the kernels of this program.
const char* name_from_runtime(cudaGraphNode_t node) {
  cudaKernelNodeParams params{};
  const char* name = nullptr;
  if (cudaGraphKernelNodeGetParams(node, &params) != cudaSuccess ||
      cudaFuncGetName(&name, params.func) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return name;
}

using indices = std::vector<std::size_t>;

/// Lists a graph and, in the place of child graphs, their nodes.
class lister {
 public:
  lister(cuda_engine& engine, const std::string& name, const stamp_names& stamps)
      : engine_(engine), subject_{"the graph of stream", name}, stamps_(stamps) {}

  /// Appends the nodes of `graph`; those that depend on nothing in it depend on `before`. Returns
  /// those that nothing in it depends on.
  indices append(cudaGraph_t graph, const indices& before) {
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    std::map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> predecessors = edges_of(graph);
    std::map<cudaGraphNode_t, indices> ends;  // of each node listed: itself, or a child's ends
    std::map<cudaGraphNode_t, bool> followed;
    while (ends.size() < nodes.size()) {
      for (const cudaGraphNode_t node : nodes) {
        const auto& earlier = predecessors[node];
        const auto listed = [&](cudaGraphNode_t n) { return ends.contains(n); };
        if (ends.contains(node) || !std::ranges::all_of(earlier, listed)) continue;
        indices after = earlier.empty() ? before : indices{};
        for (const cudaGraphNode_t n : earlier) {
          after.insert(after.end(), ends[n].begin(), ends[n].end());
          followed[n] = true;
        }
        std::ranges::sort(after);
        after.erase(std::unique(after.begin(), after.end()), after.end());
        ends[node] = append_node(node, std::move(after));
      }
    }
    indices last;
    for (const cudaGraphNode_t node : nodes) {
      if (!followed[node]) last.insert(last.end(), ends[node].begin(), ends[node].end());
    }
    return nodes.empty() ? before : last;
  }

  std::vector<graph_node> take() { return std::move(listed_); }

 private:
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

  indices append_node(cudaGraphNode_t node, indices after) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
    if (type == cudaGraphNodeTypeGraph) {
      cudaGraph_t child = nullptr;
      check(cudaGraphChildGraphNodeGetGraph(node, &child), "cudaGraphChildGraphNodeGetGraph");
      return append(child, after);
    }
    graph_node described = describe(node, type);
    described.after = std::move(after);
    listed_.push_back(std::move(described));
    return {listed_.size() - 1};
  }

  /// A list only feeds reports: what CUDA does not tell of a node's parameters is left out.
  static graph_node describe_type(cudaGraphNodeType type) {
    switch (type) {
      case cudaGraphNodeTypeMemcpy:
        return {"copy", "copy", {}};
      case cudaGraphNodeTypeMemset:
        return {"fill", "fill", {}};
      case cudaGraphNodeTypeHost:
        return {"call", "call", {}};
      case cudaGraphNodeTypeEventRecord:
        return {"event", "stamp", {}};
      default:
        return {"empty", "empty", {}};
    }
  }

  graph_node describe(cudaGraphNode_t node, cudaGraphNodeType type) {
    graph_node described = describe_type(type);
    switch (type) {
      case cudaGraphNodeTypeKernel:
        return {kernel_name(node), "operation", {}};
      case cudaGraphNodeTypeMemcpy: {
        cudaMemcpy3DParms copy{};
        if (!told(cudaGraphMemcpyNodeGetParams(node, &copy))) break;
        const std::size_t bytes = copy.extent.width * copy.extent.height * copy.extent.depth;
        described.name += " " + format_bytes(bytes);
        break;
      }
      case cudaGraphNodeTypeMemset: {
        cudaMemsetParams fill{};
        if (!told(cudaGraphMemsetNodeGetParams(node, &fill))) break;
        described.name += " " + format_bytes(fill.elementSize * fill.width * fill.height);
        break;
      }
      case cudaGraphNodeTypeHost: {
        cudaHostNodeParams call{};
        // Others are a library's or plug-in's.
        if (!told(cudaGraphHostNodeGetParams(node, &call)) || call.fn != &call_host_function) break;
        described.name = static_cast<const host_function*>(call.userData)->name();
        break;
      }
      case cudaGraphNodeTypeEventRecord: {
        cudaEvent_t event = nullptr;
        if (!told(cudaGraphEventRecordNodeGetEvent(node, &event))) break;
        if (const auto found = stamps_.find(event); found != stamps_.end()) {
          described.name = found->second;
        }
        break;
      }
      default:
        break;
    }
    return described;
  }

  static bool told(cudaError_t status) {
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());  // a launch would report it
    return status == cudaSuccess;
  }

  void check(cudaError_t status, const char* call) { engine_.check(status, call, subject_); }

  cuda_engine& engine_;
  const cuda_subject subject_;
  const stamp_names& stamps_;
  std::vector<graph_node> listed_;
};

}  // namespace

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
  engine_.make_current();  // the driver names kernels for a thread that has a context
  lister all(engine_, name_, stamps_);
  all.append(captured_.get(), {});
  return all.take();
}

std::unique_ptr<graph_exec> cuda_graph::instantiate() const {
  return std::make_unique<cuda_graph_exec>(engine_, captured_.get(), name_, stamps_);
}

std::string kernel_name(cudaGraphNode_t node) {
  const char* name = name_from_driver(node);
  if (name == nullptr) name = name_from_runtime(node);
  return name == nullptr ? "kernel" : demangled(name);
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return name;
  std::string whole = text.get();
  // The parameter list is the last bracket on the outside.
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
