#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/stage_activity.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/commands.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// Captured commands in enqueue order, which is a topological order. `nodes[i]` describes
/// `commands[i]`. The nodes of a body are consecutive, and each depends only on the node before it
/// or, if it is the first, on the switch.
template <class Command>
struct captured_graph {
  std::vector<Command> commands;
  std::vector<graph_node> nodes;
  std::vector<std::size_t> branches;  ///< per command: index of its stream
  std::size_t branch_count = 0;
  std::vector<const stage_label*> stages;  ///< per command: capturing stage, or null
  /// Per switch: the first node of each body, then the node after the last body.
  std::vector<std::vector<std::size_t>> switches;

  /// Returns the first node of the body that a switch selects now. Empty if it selects none, or a
  /// body without nodes.
  std::optional<std::size_t> selected(const select_command& c) const noexcept {
    const std::size_t body = *c.selector;
    if (body >= c.bodies) return std::nullopt;
    const std::vector<std::size_t>& begins = switches[c.number];
    if (begins[body] == begins[body + 1]) return std::nullopt;
    return begins[body];
  }

  /// Returns true if a node of a body is the last one.
  bool ends_body(std::size_t node) const noexcept {
    return node + 1 == nodes.size() || nodes[node + 1].body != nodes[node].body;
  }

  /// Returns the nodes that depend on each node. Omits nodes of bodies.
  std::vector<std::vector<std::size_t>> followers() const {
    std::vector<std::vector<std::size_t>> result(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].body) continue;
      for (const std::size_t before : nodes[i].after) result[before].push_back(i);
    }
    return result;
  }

  /// Returns the number of nodes outside bodies.
  std::size_t outer_nodes() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(nodes, [](const graph_node& n) { return !n.body; }));
  }

  /// Returns the stage and frame of a node; `launched` are those of the graph launch.
  stage_point point_of(std::size_t node, const stage_point& launched) const noexcept {
    return stages[node] == nullptr ? launched : stage_point{stages[node], launched.frame};
  }
};

/// A graph that `Exec` replays in software.
template <class Engine, class Exec, class Captured>
class replayed_graph final : public graph {
 public:
  replayed_graph(Engine& engine, std::shared_ptr<const Captured> captured)
      : engine_(engine), captured_(std::move(captured)) {}

  std::vector<graph_node> nodes() const override { return captured_->nodes; }
  std::unique_ptr<graph_exec> instantiate() const override {
    return std::make_unique<Exec>(engine_, captured_);
  }

 private:
  Engine& engine_;
  std::shared_ptr<const Captured> captured_;
};

/// A capture for graphs that are replayed in software. Each stream is a branch. Its frontier is the
/// set of nodes that its next node depends on. Recording an event stores the frontier of the
/// stream. A stream that waits for the event joins the capture and adds the stored frontier to its
/// own.
///
/// `Stream` has `capture` and `set_capture`, `Event` has `recorded_in_capture`, and `name_of`
/// returns the name of a `Command`. Used only by the capturing thread.
template <class Stream, class Event, class Command>
class capture_session {
 public:
  /// Puts `origin` in capture mode.
  /// @throws run_error if `origin` is being captured already
  capture_session(capture_registry<capture_session>& registry, Stream& origin)
      : registry_(registry), origin_name_(origin.name()) {
    if (origin.capture() != nullptr) {
      throw run_error(fmt::format(
          "stream '{}' is being captured already; a capture cannot be nested", origin.name()));
    }
    branches_.push_back({&origin, {}});
    number_ = registry_.add(*this);
    origin.set_capture(this);
  }

  /// Takes every stream out of capture mode.
  ~capture_session() {
    for (const branch& b : branches_) b.on->set_capture(nullptr);
    registry_.remove(*this);
  }
  capture_session(const capture_session&) = delete;
  capture_session& operator=(const capture_session&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  const std::string& origin_name() const noexcept { return origin_name_; }

  void add(const Stream& s, Command c, std::string type) {
    branch& b = branch_of(s);
    const std::size_t index = captured_.nodes.size();
    graph_node node{name_of(c), std::move(type), b.frontier};
    if (body_) {
      const bool fits = node.type == "operation" || node.type == "copy" || node.type == "fill";
      if (body_->on != &s || !fits) refuse_in_body(s.name(), node.type);
      node.body = body_->index;
    }
    captured_.nodes.push_back(std::move(node));
    captured_.commands.push_back(std::move(c));
    captured_.stages.push_back(thread_activity::own().at().stage);
    captured_.branches.push_back(static_cast<std::size_t>(&b - branches_.data()));
    b.frontier = {index};
  }

  void select(const Stream& s, const std::uint32_t* selector,
              std::span<const std::function<void()>> bodies) {
    const std::size_t number = captured_.switches.size();
    add(s, select_command{selector, bodies.size(), number}, "switch");
    std::vector<std::size_t>& begins = captured_.switches.emplace_back();
    const node_indices after = branch_of(s).frontier;  // the switch
    struct closing {
      std::optional<open_body>& body;
      ~closing() { body.reset(); }
    } const at_end{body_};
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      begins.push_back(captured_.nodes.size());
      branch_of(s).frontier = after;
      body_ = {&s, i};
      bodies[i]();
    }
    begins.push_back(captured_.nodes.size());
    branch_of(s).frontier = after;
  }

  void record(const Stream& s, Event& e) {
    if (body_) refuse_in_body(s.name(), "recording");
    recorded_[&e] = branch_of(s).frontier;
    e.recorded_in_capture(number_);
  }

  /// @pre `e` was recorded in this capture
  void wait(Stream& s, const Event& e) {
    if (body_) refuse_in_body(s.name(), "wait");
    if (s.capture() == nullptr) {
      branches_.push_back({&s, {}});
      s.set_capture(this);
    } else if (s.capture() != this) {
      throw run_error(fmt::format(
          "stream '{}' and event '{}' are in different captures, which cannot be merged", s.name(),
          e.name()));
    }
    node_indices& frontier = branch_of(s).frontier;
    node_indices merged;
    std::ranges::set_union(frontier, recorded_.at(&e), std::back_inserter(merged));
    frontier = std::move(merged);
  }

  /// @throws run_error if `origin` did not wait for a joined stream
  std::shared_ptr<const captured_graph<Command>> finish() {
    // Nodes are in topological order, so one backward pass finds all ancestors of the frontier.
    std::vector<bool> joined(captured_.nodes.size());
    for (const std::size_t i : branches_.front().frontier) joined[i] = true;
    for (std::size_t i = joined.size(); i-- > 0;) {
      if (!joined[i]) continue;
      for (const std::size_t before : captured_.nodes[i].after) joined[before] = true;
    }
    for (const branch& b : branches_) {
      if (!std::ranges::all_of(b.frontier, [&](std::size_t i) { return joined[i]; })) {
        throw run_error(fmt::format(
            "stream '{}' joined the capture of stream '{}' and was not waited for again; record an "
            "event at its end and wait for it on '{}' before the capture ends",
            b.on->name(), origin_name(), origin_name()));
      }
    }
    captured_.branch_count = branches_.size();
    return std::make_shared<const captured_graph<Command>>(std::move(captured_));
  }

 private:
  using node_indices = std::vector<std::size_t>;  // ascending and unique

  struct branch {
    Stream* on;
    node_indices frontier;
  };

  /// The body that is being captured.
  struct open_body {
    const Stream* on;
    std::size_t index;
  };

  branch& branch_of(const Stream& s) { return *std::ranges::find(branches_, &s, &branch::on); }

  capture_registry<capture_session>& registry_;
  const std::string origin_name_;  // other threads read it too
  std::vector<branch> branches_;   // the first is the origin's
  std::map<const Event*, node_indices> recorded_;
  captured_graph<Command> captured_;
  std::optional<open_body> body_;
  std::uint64_t number_ = 0;
};

}  // namespace graphline
