#include "framework/device/model/model_graph.hpp"

#include "framework/device/model/model_stream.hpp"

namespace graphline {

model_run::model_run(model_engine& engine, const model_captured& graph)
    : engine_(engine),
      graph_(graph),
      followers_(graph.nodes.size()),
      busy_(graph.branch_count),
      jobs_(graph.nodes.size()),
      waits_for_(graph.nodes.size()) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::size_t before : graph.nodes[i].after) followers_[before].push_back(i);
  }
}

bool model_run::begin(model_lane& on) {
  left_ = graph_.nodes.size();
  for (std::size_t i = 0; i < left_; ++i) {
    jobs_[i] = {.what = &graph_.commands[i], .lane = &on, .run = this, .node = i};
    waits_for_[i] = graph_.nodes[i].after.size();
    if (waits_for_[i] == 0) free_.push_back(i);
  }
  return settle();
}

bool model_run::done(std::size_t node) {
  count_off(node);
  return settle();
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
    } else {
      engine_.make_ready(jobs_[node]);
    }
  }
  free_.clear();
  return left_ == 0;
}

}  // namespace graphline
