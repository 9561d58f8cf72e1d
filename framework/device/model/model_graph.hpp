#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/device/model/model_engine.hpp"

namespace graphline {

/// The replay of a graph, by dependency. One launch at a time; the engine's to call.
class model_run {
 public:
  model_run(model_engine& engine, const model_captured& graph);

  /// Begins a launch of the stream `on`. Whether it is complete at once.
  bool begin(model_lane& on);

  /// A node is done. Whether the launch is complete with it.
  bool done(std::size_t node);

  /// As of a `captured_graph`.
  stage_point point_of(std::size_t node, const stage_point& launched) const noexcept {
    return graph_.point_of(node, launched);
  }

  /// Of the node's branch.
  model_busy_time& busy_of(std::size_t node) { return busy_[graph_.branches[node]]; }

 private:
  void count_off(std::size_t node);
  bool settle();

  model_engine& engine_;
  const model_captured& graph_;
  std::vector<std::vector<std::size_t>> followers_;  // per node, those that depend on it
  std::vector<model_busy_time> busy_;                // by branch
  std::vector<model_job> jobs_;                      // by node

  // Of the launch under way.
  std::size_t left_ = 0;                // nodes that are not done
  std::vector<std::size_t> waits_for_;  // per node, how many it depends on that are not done
  std::vector<std::size_t> free_;       // nodes that depend on none any more
};

class model_graph_exec final : public graph_exec {
 public:
  model_graph_exec(model_engine& engine, std::shared_ptr<const model_captured> captured)
      : engine_(engine), captured_(std::move(captured)), run_(engine, *captured_) {}

  /// Waits until its latest launch is done.
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
