#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

class host_caller;
struct host_engine;

/// Executes launches of a graph, one at a time, in dependency order. While a host function runs,
/// nodes that do not depend on it continue. Used by the worker. Allocates only on construction.
///
/// Stamps and calls cost the worker no time. The worker processes them when their dependencies are
/// complete or, if the last dependency is a host function, between two operations. Other ready
/// nodes execute in captured order. A switch is ready while nodes of its body are left.
class graph_run {
 public:
  /// `graph` must outlive the run.
  explicit graph_run(const host_captured& graph);

  /// `waiting`: all remaining nodes wait for host functions.
  enum class standing { ready, waiting, complete };

  /// Starts a launch if none is active, completes host functions that have returned, and processes
  /// ready stamps and calls.
  standing advance(host_caller& caller) noexcept;

  /// Returns the next node to execute.
  /// @pre `advance` returned `ready`
  const command& next() const noexcept { return graph_.commands[next_node()]; }
  stage_point next_point(const stage_point& launched) const noexcept {
    return graph_.point_of(next_node(), launched);
  }

  /// Completes the next node, which took `time`. Returns true if a node is ready to execute and no
  /// stamp or call is ready.
  bool next_done(nanoseconds time) noexcept;

 private:
  const select_command* next_switch() const noexcept {
    return std::get_if<select_command>(&graph_.commands[ready_.front()]);
  }
  std::size_t next_node() const noexcept {
    const select_command* const select = next_switch();
    return select == nullptr ? ready_.front() : in_bodies_[select->number];
  }
  void begin() noexcept;
  void process_immediate(host_caller& caller) noexcept;
  void make_ready(std::size_t node) noexcept;
  void done(std::size_t node) noexcept;

  const host_captured& graph_;
  const std::vector<std::vector<std::size_t>> followers_;
  const std::size_t outer_nodes_;

  // State of the active launch.
  bool is_active_ = false;
  std::size_t left_ = 0;                // number of incomplete nodes
  std::vector<std::size_t> waits_for_;  // per node: number of incomplete dependencies
  std::vector<std::size_t> ready_;      // a min-heap of operations, copies, fills and switches
  std::vector<std::size_t> in_bodies_;  // per switch in `ready_`: next node of its body
  std::vector<std::size_t> immediate_;  // ready stamps, calls and switches that select nothing
  std::vector<std::size_t> called_;     // nodes with a submitted call, in order of submission
  std::size_t returned_ = 0;            // number of `called_` nodes whose call has returned
  std::vector<handed_call> calls_;
  std::vector<nanoseconds> busy_;  // per branch: time spent on its operations
};

class host_graph_exec final : public graph_exec {
 public:
  host_graph_exec(host_engine& engine, std::shared_ptr<const host_captured> captured);

  ~host_graph_exec() override;

  const host_engine& engine() const noexcept { return engine_; }

  /// Stores the latest launch and returns the previous one, which the latest must follow.
  recorded_point launched(recorded_point r) noexcept { return latest_launch_.exchange(r); }

  /// Returns the command that launches the graph once `after` has passed.
  command launch_after(lane_wait after) noexcept { return launch_command{&run_, after}; }

 private:
  host_engine& engine_;
  std::shared_ptr<const host_captured> captured_;
  graph_run run_;
  std::atomic<recorded_point> latest_launch_{};
};

}  // namespace graphline
