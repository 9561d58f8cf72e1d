#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/device/model/model_engine.hpp"

namespace graphline {

/// Executes launches of a graph, one at a time, in dependency order. Used only by the engine.
class model_run {
 public:
  model_run(model_engine& engine, const model_captured& graph);

  /// Starts a launch in lane `on`. Returns true if the launch is complete.
  bool begin(model_lane& on);

  /// Completes the node of a job. Returns true if the launch is complete.
  bool done(model_job& job);

  stage_point point_of(std::size_t node, const stage_point& launched) const noexcept {
    return graph_.point_of(node, launched);
  }

  model_busy_time& busy_of(std::size_t node) { return busy_[graph_.branches[node]]; }

 private:
  void count_off(std::size_t node);
  bool settle();
  void start(model_job& job, std::size_t node);

  model_engine& engine_;
  const model_captured& graph_;
  const std::vector<std::vector<std::size_t>> followers_;
  const std::size_t outer_nodes_;
  std::vector<model_busy_time> busy_;  // per branch
  std::vector<model_job> jobs_;        // per node; that of a switch executes the nodes of its body

  // State of the active launch.
  std::size_t left_ = 0;                // number of incomplete nodes
  std::vector<std::size_t> waits_for_;  // per node: number of incomplete dependencies
  std::vector<std::size_t> free_;       // nodes without incomplete dependencies
};

class model_graph_exec final : public graph_exec {
 public:
  model_graph_exec(model_engine& engine, std::shared_ptr<const model_captured> captured)
      : engine_(engine), captured_(std::move(captured)), run_(engine, *captured_) {}

  ~model_graph_exec() override {
    engine_.drain_until([this] { return latest_launch_.has_passed(); });
  }

  const model_engine& engine() const noexcept { return engine_; }

  model_run& run() noexcept { return run_; }

  const model_point& latest_launch() const noexcept { return latest_launch_; }
  void launched(const model_point& at) noexcept { latest_launch_ = at; }

 private:
  model_engine& engine_;
  std::shared_ptr<const model_captured> captured_;
  model_run run_;
  model_point latest_launch_;
};

}  // namespace graphline
