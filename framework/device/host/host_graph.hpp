#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/device/host/host_capture.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

class host_caller;
struct host_engine;

/// The replay of a graph, by dependency: while a call is under way, the nodes that do not depend on
/// it go on. One launch at a time; allocates at construction only. The worker's to call.
///
/// Stamps and calls take the worker no time, so they are dealt with as soon as what they depend on
/// is done; behind a call, that is when the worker next looks, between two operations. Of the other
/// nodes that are ready, the first in captured order is the next.
class graph_run {
 public:
  /// `graph` must outlive the run.
  explicit graph_run(const host_captured& graph);

  /// How a launch stands: there is a node for the worker to carry out, all that is left waits for
  /// calls, or nothing is left.
  enum class standing { ready, waiting, complete };

  /// Begins a launch when none is under way, takes in the calls that have returned, and deals with
  /// the stamps and calls that are ready. A launch found complete is under way no more.
  standing advance(host_caller& caller) noexcept;

  /// The node to carry out; it stays the next until `next_done`.
  const command& next() const noexcept { return graph_.commands[ready_.front()]; }
  /// As of a `captured_graph`.
  stage_point next_point(const stage_point& launched) const noexcept {
    return graph_.point_of(ready_.front(), launched);
  }

  /// It took so long. Whether another node can be carried out with no stamp or call before it.
  bool next_done(nanoseconds time) noexcept;

 private:
  void begin() noexcept;
  void deal_with_immediate(host_caller& caller) noexcept;
  void make_ready(std::size_t node) noexcept;
  void done(std::size_t node) noexcept;

  const host_captured& graph_;
  std::vector<std::vector<std::size_t>> followers_;  // per node, those that depend on it

  // Of the launch under way.
  bool is_under_way_ = false;
  std::size_t left_ = 0;                // nodes that are not done
  std::vector<std::size_t> waits_for_;  // per node, how many it depends on that are not done
  std::vector<std::size_t> ready_;      // operations, copies and fills: a heap, the first on top
  std::vector<std::size_t> immediate_;  // stamps and calls that are ready
  std::vector<std::size_t> called_;     // the nodes of `calls_`, in the order of their hand-over
  std::size_t returned_ = 0;            // how many of these have returned
  std::vector<handed_call> calls_;
  std::vector<nanoseconds> busy_;  // by branch: what the worker has spent on its operations
};

class host_graph_exec final : public graph_exec {
 public:
  host_graph_exec(host_engine& engine, std::shared_ptr<const host_captured> captured);

  /// Waits until its latest launch is done.
  ~host_graph_exec() override;

  const host_engine& engine() const noexcept { return engine_; }

  /// Notes a new launch and returns the one before, which it has to follow.
  recorded_point launched(recorded_point r) noexcept { return latest_launch_.exchange(r); }

  /// What a stream submits to launch it after that point.
  command launch_after(lane_wait after) noexcept { return launch_command{&run_, after}; }

 private:
  host_engine& engine_;
  std::shared_ptr<const host_captured> captured_;
  graph_run run_;
  std::atomic<recorded_point> latest_launch_{};
};

}  // namespace graphline
