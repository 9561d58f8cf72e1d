#pragma once

#include <cstddef>
#include <vector>

#include "framework/device/host/host_caller.hpp"
#include "framework/device/host/host_graph.hpp"

namespace graphline {

/// The replay of a graph that holds calls, by dependency: while a call is under way, the nodes that
/// do not depend on it go on. One launch at a time; allocates at construction only. The worker's to
/// call.
///
/// Stamps and calls take the worker no time, so they are dealt with as soon as what they depend on
/// is done; behind a call, that is when the worker next looks, between two operations. Of the other
/// nodes that are ready, the first in captured order is the next.
class graph_run {
 public:
  /// `graph` must outlive the run.
  explicit graph_run(const captured_graph& graph);

  /// How a launch stands: there is a node for the worker to carry out, all that is left waits for
  /// calls, or nothing is left.
  enum class standing { ready, waiting, complete };

  /// Begins a launch when none is under way, takes in the calls that have returned, and deals with
  /// the stamps and calls that are ready. A launch found complete is under way no more.
  standing advance(host_caller& caller) noexcept;

  /// The node to carry out; it stays the next until `next_done`.
  const command& next() const noexcept { return graph_.commands[ready_.front()]; }
  /// It took so long.
  void next_done(nanoseconds time) noexcept;

 private:
  void begin() noexcept;
  void deal_with_immediate(host_caller& caller) noexcept;
  void make_ready(std::size_t node) noexcept;
  void done(std::size_t node) noexcept;

  const captured_graph& graph_;
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

}  // namespace graphline
