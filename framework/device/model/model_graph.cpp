#include "framework/device/model/model_graph.hpp"

#include "framework/device/model/model_stream.hpp"

namespace graphline {

model_run::model_run(model_engine& engine, const model_captured& graph)
    : engine_(engine),
      graph_(graph),
      followers_(graph.followers()),
      outer_nodes_(graph.outer_nodes()),
      busy_(graph.branch_count),
      jobs_(graph.nodes.size()),
      waits_for_(graph.nodes.size()) {}

bool model_run::begin(model_lane& on) {
  left_ = outer_nodes_;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    jobs_[i] = {.lane = &on, .run = this};
    waits_for_[i] = graph_.nodes[i].after.size();
    if (waits_for_[i] == 0) free_.push_back(i);
  }
  return settle();
}

bool model_run::done(model_job& job) {
  if (graph_.nodes[job.node].body && !graph_.ends_body(job.node)) {
    start(job, job.node + 1);
    return false;
  }
  count_off(static_cast<std::size_t>(&job - jobs_.data()));
  return settle();
}

void model_run::start(model_job& job, std::size_t node) {
  job.what = &graph_.commands[node];
  job.node = node;
  engine_.make_ready(job);
}

void model_run::count_off(std::size_t node) {
  --left_;
  for (const std::size_t follower : followers_[node]) {
    if (--waits_for_[follower] == 0) free_.push_back(follower);
  }
}

bool model_run::settle() {
  for (std::size_t i = 0; i < free_.size(); ++i) {  // `free_` grows in the loop
    const std::size_t node = free_[i];
    if (const auto* record = std::get_if<model_record>(&graph_.commands[node])) {
      record->stamped->stamp_in_graph(engine_.clock.now(), busy_of(node).total());
      count_off(node);
    } else if (const auto* select = std::get_if<select_command>(&graph_.commands[node])) {
      if (const auto first = graph_.selected(*select)) {
        start(jobs_[node], *first);
      } else {
        count_off(node);
      }
    } else {
      start(jobs_[node], node);
    }
  }
  free_.clear();
  return left_ == 0;
}

}  // namespace graphline
