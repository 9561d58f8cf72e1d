#include "tests/analysis/simulated_run.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace graphline::samples {

namespace {

/// Draws one of the numbers below another.
class dice {
 public:
  explicit dice(std::mt19937_64& generator) : generator_(generator) {}
  std::size_t operator()(std::size_t n) const { return static_cast<std::size_t>(generator_() % n); }

 private:
  std::mt19937_64& generator_;
};

void draw_settings(run_record& r, const dice& one_of) {
  r.pipeline = "simulated";
  r.tensors.resize(1);
  r.threads = {"main", "worker 1", "worker 2", "worker 3"};
  r.device.backend = one_of(2) == 0 ? "host" : "cuda";
  r.device.one_at_a_time = r.device.tells_busy_time = r.device.backend == "host";
  r.cpu_cores = 1;
  r.run.strategy = std::array{strategy::serial, strategy::async, strategy::overlap}[one_of(3)];
  r.run.in_flight = r.run.strategy == strategy::serial ? 1 : 1 + static_cast<int>(one_of(3));
  if (r.run.strategy != strategy::serial && one_of(4) == 0) r.run.graphs = graph_mode::frame;
  const bool one_thread = r.run.strategy != strategy::overlap && r.run.graphs != graph_mode::frame;
  r.run.timing = one_thread && one_of(4) == 0 ? timing_method::sync : timing_method::event;
  if (one_of(3) == 0) r.run.arrival = arrival::constant;
}

void draw_stages(run_record& r, const dice& one_of) {
  const bool whole_graphs = r.run.graphs == graph_mode::frame;
  const std::size_t stages = 2 + one_of(9);
  const std::size_t streams = 1 + one_of(3);
  for (std::size_t s = 0; s < stages; ++s) {
    stage_record stage;
    stage.name = "s" + std::to_string(s);
    stage.on = one_of(3) == 0 ? side::cpu : side::device;
    if (stage.on == side::device) {
      stage.copy = one_of(5) == 0;
      stage.stream = "stream " + std::to_string(one_of(streams));
    }
    for (std::size_t earlier = 0; earlier < s; ++earlier) {
      if (one_of(3) != 0) continue;
      const auto& from = r.stages[earlier];
      auto how =
          from.stream == stage.stream ? satisfied_by::stream_order : satisfied_by::event_wait;
      if (!whole_graphs && from.on == side::cpu) how = satisfied_by::cpu_return;
      if (!whole_graphs && from.on == side::device && stage.on == side::cpu) {
        how = satisfied_by::completion;
      }
      stage.waits.push_back({earlier, how});
    }
    r.stages.push_back(std::move(stage));
  }
}

}  // namespace

run_record drawn_pipeline(std::mt19937_64& generator) {
  const dice one_of(generator);
  run_record record;
  draw_settings(record, one_of);
  draw_stages(record, one_of);
  return record;
}

}  // namespace graphline::samples
