#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_capture.hpp"
#include "framework/device/device.hpp"

namespace graphline {

struct cuda_engine;

class cuda_graph_exec final : public graph_exec {
 public:
  /// Instantiates the graph with node priorities and uploads it before the first launch.
  cuda_graph_exec(cuda_engine& engine, std::shared_ptr<CUgraph_st> graph, std::string name,
                  bool has_switch);
  ~cuda_graph_exec() override;

  const cuda_engine& engine() const noexcept { return engine_; }
  const std::string& name() const noexcept { return name_; }
  cudaGraphExec_t handle() const noexcept { return handle_.get(); }

 private:
  cuda_engine& engine_;
  const std::string name_;
  const std::shared_ptr<CUgraph_st> graph_;
  const bool has_switch_;
  unique_cuda<cudaGraphExec_t> handle_;  // may be destroyed during a launch
};

class cuda_graph final : public graph {
 public:
  /// `name` is that of the captured stream.
  cuda_graph(cuda_engine& engine, unique_cuda<cudaGraph_t> captured, std::string name,
             stamp_names stamps, switch_bodies switches);
  ~cuda_graph() override;

  std::vector<graph_node> nodes() const override;
  std::unique_ptr<graph_exec> instantiate() const override;

 private:
  cuda_engine& engine_;
  const std::shared_ptr<CUgraph_st> captured_;
  const std::string name_;
  const stamp_names stamps_;
  const switch_bodies switches_;
};

/// Returns the demangled name of a kernel node's kernel; "kernel" if unknown.
std::string kernel_name(cudaGraphNode_t node);

/// Returns the demangled name without parameters: "void scale<float>" for "_Z5scaleIfEvPT_".
/// Returns names that are not mangled unchanged.
std::string demangled(const char* name);

}  // namespace graphline
