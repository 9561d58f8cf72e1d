#include "framework/device/host/host_graph.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "framework/device/host/host_stream.hpp"
#include "framework/device/host/host_worker.hpp"

namespace graphline {
namespace {

bool is_call(const command& c) noexcept {
  return std::holds_alternative<call_command>(c);
}

}  // namespace

host_graph_exec::host_graph_exec(host_engine& engine, std::shared_ptr<const host_captured> captured)
    : engine_(engine), captured_(std::move(captured)), run_(*captured_) {}

host_graph_exec::~host_graph_exec() {
  engine_.lanes.wait(latest_launch_.load(), wait_mode::block);
}

graph_run::graph_run(const host_captured& graph)
    : graph_(graph),
      followers_(graph.followers()),
      outer_nodes_(graph.outer_nodes()),
      waits_for_(graph.nodes.size()),
      in_bodies_(graph.switches.size()),
      calls_(static_cast<std::size_t>(std::ranges::count_if(graph.commands, is_call))),
      busy_(graph.branch_count) {
  ready_.reserve(graph.nodes.size());
  immediate_.reserve(graph.nodes.size());
  called_.reserve(calls_.size());
}

graph_run::standing graph_run::advance(host_caller& caller) noexcept {
  if (!is_active_) begin();
  process_immediate(caller);
  // Calls return in order of submission, so only the oldest open call is checked.
  while (returned_ < called_.size() && calls_[returned_].has_returned()) {
    done(called_[returned_++]);
    process_immediate(caller);
  }
  if (!ready_.empty()) return standing::ready;
  if (left_ != 0) return standing::waiting;
  is_active_ = false;
  return standing::complete;
}

void graph_run::process_immediate(host_caller& caller) noexcept {
  while (!immediate_.empty()) {
    const std::size_t node = immediate_.back();
    immediate_.pop_back();
    const command& c = graph_.commands[node];
    if (const auto* stamp = std::get_if<stamp_command>(&c)) {
      stamp->stamped->stamp_in_graph(busy_[graph_.branches[node]]);
      done(node);
    } else if (const auto* call = std::get_if<call_command>(&c)) {
      caller.submit(calls_[called_.size()], *call->function);
      called_.push_back(node);
    } else {
      done(node);  // a switch that selects nothing
    }
  }
}

bool graph_run::next_done(nanoseconds time) noexcept {
  const std::size_t node = ready_.front();
  busy_[graph_.branches[node]] += time;
  const select_command* const select = next_switch();
  if (select != nullptr && !graph_.ends_body(next_node())) {
    ++in_bodies_[select->number];
  } else {
    std::ranges::pop_heap(ready_, std::greater{});
    ready_.pop_back();
    done(node);
  }
  return immediate_.empty() && !ready_.empty();
}

void graph_run::begin() noexcept {
  is_active_ = true;
  called_.clear();
  returned_ = 0;
  left_ = outer_nodes_;
  const std::size_t nodes = graph_.nodes.size();
  for (std::size_t i = 0; i < nodes; ++i) waits_for_[i] = graph_.nodes[i].after.size();
  // In reverse, because `immediate_` is a stack.
  for (std::size_t i = nodes; i-- > 0;) {
    if (waits_for_[i] == 0) make_ready(i);
  }
}

void graph_run::make_ready(std::size_t node) noexcept {
  const command& c = graph_.commands[node];
  bool executes = is_work(c);
  if (const auto* select = std::get_if<select_command>(&c)) {
    const std::optional<std::size_t> first = graph_.selected(*select);
    executes = first.has_value();
    in_bodies_[select->number] = first.value_or(0);
  }
  if (executes) {
    ready_.push_back(node);
    std::ranges::push_heap(ready_, std::greater{});
  } else {
    immediate_.push_back(node);
  }
}

void graph_run::done(std::size_t node) noexcept {
  --left_;
  const std::vector<std::size_t>& followers = followers_[node];
  for (std::size_t i = followers.size(); i-- > 0;) {
    if (--waits_for_[followers[i]] == 0) make_ready(followers[i]);
  }
}

}  // namespace graphline
