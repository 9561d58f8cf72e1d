#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/device/host/command.hpp"
#include "framework/device/host/recording.hpp"

namespace graphline {

struct host_engine;

class graph_run;

/// What a capture saw, in the order it was enqueued, which satisfies every dependency. Replayed in
/// that order, one node at a time, unless it holds calls: see `graph_run`. `nodes[i]` describes
/// `commands[i]`.
struct captured_graph {
  std::vector<command> commands;  ///< operations, copies, fills, calls and stamps only
  std::vector<graph_node> nodes;
  std::vector<std::size_t> branches;  ///< of each command: which stream of the capture it is of
  std::size_t branch_count = 0;
};

/// The replay of a graph without calls, node by node. The worker's.
struct graph_replay {
  const captured_graph& graph;
  std::size_t next = 0;           ///< the node to carry out
  std::vector<nanoseconds> busy;  ///< by branch: what the worker has spent on its operations

  explicit graph_replay(const captured_graph& of) : graph(of), busy(of.branch_count) {}
};

class host_graph_exec final : public graph_exec {
 public:
  host_graph_exec(host_engine& engine, std::shared_ptr<const captured_graph> captured);

  /// Waits until its latest launch is done.
  ~host_graph_exec() override;

  const host_engine& engine() const noexcept { return engine_; }
  const captured_graph& captured() const noexcept { return *captured_; }

  /// Notes a new launch and returns the one before, which it has to follow.
  recording launched(recording r) noexcept { return latest_launch_.exchange(r); }

  /// What a stream submits to launch it after that point.
  command launch_after(dependency after) noexcept;

 private:
  host_engine& engine_;
  std::shared_ptr<const captured_graph> captured_;
  graph_replay replay_;
  std::unique_ptr<graph_run> run_;  // in place of `replay_` when the graph holds calls
  std::atomic<recording> latest_launch_{};
};

class host_graph final : public graph {
 public:
  host_graph(host_engine& engine, std::shared_ptr<const captured_graph> captured)
      : engine_(engine), captured_(std::move(captured)) {}

  std::vector<graph_node> nodes() const override { return captured_->nodes; }
  std::unique_ptr<graph_exec> instantiate() const override {
    return std::make_unique<host_graph_exec>(engine_, captured_);
  }

 private:
  host_engine& engine_;
  std::shared_ptr<const captured_graph> captured_;
};

}  // namespace graphline
