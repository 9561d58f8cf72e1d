#include "tests/analysis/virtual_records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "framework/run/execute/frame_executor.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "tests/run/frame_scheduling.hpp"

namespace graphline::samples {

using namespace testing_plans;

namespace {

constexpr std::size_t unit = 128;
constexpr std::size_t longest = std::size_t{1} << 32;

nanoseconds some_time(random_source& random, std::size_t at_most) {
  return static_cast<nanoseconds>(unit * (1 + below(random, at_most / unit)));
}

}  // namespace

drawn_execution draw_execution(std::uint64_t seed, strategy how, std::size_t in_flight,
                               graph_mode graphs) {
  drawn_execution made{graphs == graph_mode::frame ? draw_of_graphs(seed, how, in_flight, longest)
                                                   : draw(seed, how, in_flight),
                       {}};
  random_source random(seed);
  for (planned_stage& stage : made.run.planned.stages) {
    stage.inserted = stage.on == side::device && below(random, 5) == 0;
  }
  made.run.times.assign(8, std::vector<nanoseconds>(made.run.planned.stages.size()));
  for (auto& frame : made.run.times) {
    for (nanoseconds& time : frame) {
      time = some_time(random, below(random, 3) == 0 ? longest : longest / 20);
    }
  }
  // A spinning thread continues at the next event.
  if (in_flight > 1) made.run.planned.run.wait = wait_mode::spin;
  made.of = {.issue = some_time(random, longest / 50),
             .wake_up = some_time(random, longest / 50),
             .completion_delay = some_time(random, longest / 50)};
  return made;
}

drawn_execution draw_execution(std::uint64_t seed) {
  random_source random(seed);
  const auto how =
      std::array{strategy::serial, strategy::async, strategy::overlap}[below(random, 3)];
  const bool as_graph = how != strategy::serial && below(random, 4) == 0;
  auto made = draw_execution(seed, how, how == strategy::serial ? 1 : 1 + below(random, 3),
                             as_graph ? graph_mode::frame : graph_mode::stage);
  settings& run = made.run.planned.run;
  if (how != strategy::overlap && !as_graph && below(random, 4) == 0) {
    run.timing = timing_method::sync;
  }
  if (below(random, 3) == 0) {
    run.arrival = arrival::constant;
    run.rate = 0.25 * static_cast<double>(1 + below(random, 3));
  }
  if (below(random, 3) == 0) made.run.operations_at_once = 2;
  return made;
}

run_record virtual_record(const drawn_execution& execution) {
  const drawn_run& run = execution.run;
  const schedule_properties& schedule = run.planned.schedule.properties;
  auto made = schedule.one_launch ? run_in_virtual_time<frame_executor>(run, execution.of)
              : schedule.in_order ? run_in_virtual_time<sequential_executor>(run, execution.of)
                                  : run_in_virtual_time<ready_executor>(run, execution.of);
  EXPECT_EQ(made.result.failure, std::nullopt);
  EXPECT_EQ(made.result.completed, std::ssize(run.times));
  return std::move(made.record);
}

run_record with_unsure_clock(run_record record, nanoseconds error, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto width = static_cast<std::uint64_t>(2 * error + 1);
  const auto off = [&] { return static_cast<nanoseconds>(generator() % width) - error; };
  record.clock_error = error;
  for (auto& stage : record.stages) {
    for (std::size_t i = 0; i < stage.device.size(); ++i) {
      auto& stamps = stage.device[i];
      const nanoseconds begin = stamps.begin + off();
      stamps = {begin, std::max(begin + 1, stamps.end + off())};
      if (i < stage.busy.size()) stage.busy[i] = std::min(stage.busy[i], stamps.length());
    }
  }
  return record;
}

}  // namespace graphline::samples
