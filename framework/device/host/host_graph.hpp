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

/// Executes launches of a graph, one at a time, in dependency order: nodes independent of a running
/// host function continue. Allocates only on construction. Used only by the worker.
///
/// Stamps and calls take the worker no time, so they are processed as soon as their dependencies
/// are complete; after a host function, that is between two operations. Other ready nodes execute
/// in captured order.
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

  /// The next node to execute.
  /// @pre `advance` returned `ready`
  const command& next() const noexcept { return graph_.commands[ready_.front()]; }
  /// `captured_graph::point_of` the next node.
  stage_point next_point(const stage_point& launched) const noexcept {
    return graph_.point_of(ready_.front(), launched);
  }

  /// Completes the next node, which took `time`. Returns whether another node can execute before
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
  std::vector<std::size_t> ready_;      // operations, copies and fills: a min-heap
  std::vector<std::size_t> immediate_;  // ready stamps and calls
  std::vector<std::size_t> called_;     // nodes of `calls_`, in order of submission
  std::size_t returned_ = 0;            // how many of these have returned
  std::vector<handed_call> calls_;
  std::vector<nanoseconds> busy_;  // per branch: time spent on its operations
};

class host_graph_exec final : public graph_exec {
 public:
  host_graph_exec(host_engine& engine, std::shared_ptr<const host_captured> captured);

  /// Waits for the latest launch.
  ~host_graph_exec() override;

  const host_engine& engine() const noexcept { return engine_; }

  /// Records a launch and returns the previous one, which it must follow.
  recorded_point launched(recorded_point r) noexcept { return latest_launch_.exchange(r); }

  /// The command that launches the graph after a point.
  command launch_after(lane_wait after) noexcept { return launch_command{&run_, after}; }

 private:
  host_engine& engine_;
  std::shared_ptr<const host_captured> captured_;
  graph_run run_;
  std::atomic<recorded_point> latest_launch_{};
};

}  // namespace graphline
