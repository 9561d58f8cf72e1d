#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/campaign/predict/prediction.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline::testing_plans {

inline constexpr std::size_t frame_count = 7;

/// A pipeline of random stages, without settings.
struct drawn_pipeline {
  explicit drawn_pipeline(std::uint64_t seed, std::size_t frames = frame_count) {
    random_source random(seed);
    run.planned = random_plan(random, 12, streams);
    run.workers = 1 + below(random, 4);
    run.times.assign(frames, std::vector<nanoseconds>(run.planned.stages.size()));
    for (auto& frame : run.times) {
      for (nanoseconds& time : frame) time = 1 + static_cast<nanoseconds>(below(random, 1'000'000));
    }
  }

  /// Returns the run with settings.
  drawn_run under(strategy how, graph_mode graphs, std::size_t in_flight) const {
    drawn_run made = run;
    finish(made.planned, how, graphs, in_flight);
    made.planned.run.frames = static_cast<std::int64_t>(run.times.size());
    return made;
  }

  drawn_run run;
};

inline run_record measured(const drawn_run& run, const overheads& of = {}) {
  run_record record = run.planned.schedule.properties.in_order
                          ? run_in_virtual_time<sequential_executor>(run, of).record
                          : run_in_virtual_time<ready_executor>(run, of).record;
  record.device.backend = "host";
  return record;
}

/// Without intervals.
inline prediction_options exact_options() {
  prediction_options options;
  options.replicates = 0;
  return options;
}

}  // namespace graphline::testing_plans
