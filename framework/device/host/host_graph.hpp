#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

class host_caller;
struct host_engine;

/// Executes launches of a graph, one at a time, in dependency order. Nodes that do not depend on a
/// running host function continue. Allocates only on construction. Used only by the worker.
///
/// Stamps and calls cost the worker no time, so it processes them as soon as their dependencies are
/// complete. If the last dependency is a host function, it does so between two operations. Other
/// ready nodes execute in captured order.
class graph_run {
 public:
  /// `graph` must outlive the run.
  explicit graph_run(const host_captured& graph);

  /// State of a launch: a node is ready to execute, all remaining nodes wait for host functions, or
  /// all nodes are complete.
  enum class standing { ready, waiting, complete };

  /// Starts a launch if none is active, completes host functions that have returned, and processes
  /// ready stamps and calls.
  standing advance(host_caller& caller) noexcept;

  /// Returns the next node to execute.
  /// @pre `advance` returned `ready`
  const command& next() const noexcept { return graph_.commands[ready_.front()]; }
  /// Returns `captured_graph::point_of` the next node.
  stage_point next_point(const stage_point& launched) const noexcept {
    return graph_.point_of(ready_.front(), launched);
  }

  /// Completes the next node, which took `time`. Returns true if another node can execute before
  /// any stamp or call.
  bool next_done(nanoseconds time) noexcept;

 private:
  void begin() noexcept;
  void process_immediate(host_caller& caller) noexcept;
  void make_ready(std::size_t node) noexcept;
  void done(std::size_t node) noexcept;

  const host_captured& graph_;
  std::vector<std::vector<std::size_t>> followers_;  // per node: nodes that depend on it

  // State of the active launch.
  bool is_active_ = false;
  std::size_t left_ = 0;                // number of incomplete nodes
  std::vector<std::size_t> waits_for_;  // per node: number of incomplete dependencies
  std::vector<std::size_t> ready_;      // a min-heap of operations, copies and fills
  std::vector<std::size_t> immediate_;  // ready stamps and calls
  std::vector<std::size_t> called_;     // nodes with a submitted call, in order of submission
  std::size_t returned_ = 0;            // number of `called_` nodes whose call has returned
  std::vector<handed_call> calls_;
  std::vector<nanoseconds> busy_;  // per branch: time spent on its operations
};

class host_graph_exec final : public graph_exec {
 public:
  host_graph_exec(host_engine& engine, std::shared_ptr<const host_captured> captured);

  /// Waits for the latest launch.
  ~host_graph_exec() override;

  const host_engine& engine() const noexcept { return engine_; }

  /// Records a launch and returns the previous launch, which it must follow.
  recorded_point launched(recorded_point r) noexcept { return latest_launch_.exchange(r); }

  /// Returns the command that launches the graph after a point.
  command launch_after(lane_wait after) noexcept { return launch_command{&run_, after}; }

 private:
  host_engine& engine_;
  std::shared_ptr<const host_captured> captured_;
  graph_run run_;
  std::atomic<recorded_point> latest_launch_{};
};

}  // namespace graphline
