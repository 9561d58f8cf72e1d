#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/campaign/predict/predicted_campaigns.hpp"
#include "framework/campaign/predict/predictor.hpp"
#include "tests/campaign/drawn_pipelines.hpp"

namespace graphline {
namespace {

using namespace testing_plans;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

constexpr nanoseconds ms = 1'000'000;

/// One CPU stage that takes 1 ms.
drawn_run one_stage(strategy how) {
  drawn_run made;
  made.planned = plan_of({side::cpu}, {}, streams);
  made.times.assign(60, {ms});
  finish(made.planned, how, graph_mode::stage, 1);
  made.planned.run.frames = 60;
  return made;
}

/// The stage under a load of a trace, and its measured run in a closed loop.
struct loaded_stage {
  explicit loaded_stage(std::vector<nanoseconds> due, strategy how = strategy::async)
      : run(one_stage(how)), kinds(run), plan(kinds.planned()), source(measured(run)) {
    plan.run.arrival = arrival::trace;
    plan.arrivals = std::make_shared<const arrival_trace>(trace_of(std::move(due)));
    plan.run.frames = frames_that_arrive(plan, 1000);
  }

  run_record predicted() const { return predict(plan, {{"s.json", source}}, exact_options()); }

  drawn_run run;
  drawn_kinds kinds;
  graphline::plan plan;
  run_record source;
};

std::vector<nanoseconds> due_times(const run_record& of) {
  std::vector<nanoseconds> times;
  for (const frame_record& frame : of.frames) times.push_back(frame.due);
  return times;
}

std::vector<nanoseconds> latencies(const run_record& of) {
  std::vector<nanoseconds> times;
  for (const frame_record& frame : of.frames) times.push_back(frame.end - frame.due);
  return times;
}

TEST(predicted_load, of_a_trace_has_its_due_times_and_waits) {
  for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
    const loaded_stage made({0, ms / 5, ms / 2, 5 * ms}, how);
    const run_record found = made.predicted();
    EXPECT_EQ(found.run.frames, 4);
    EXPECT_FALSE(found.epoch);
    EXPECT_THAT(due_times(found), ElementsAre(0, ms / 5, ms / 2, 5 * ms));
    EXPECT_THAT(latencies(found), ElementsAre(ms, 2 * ms - ms / 5, 3 * ms - ms / 2, ms));
  }
}

TEST(predicted_load, of_bursts_with_a_phase_runs_their_frames_one_after_another) {
  loaded_stage made({0, 10 * ms});
  made.plan.run.burst = 3;
  made.plan.run.phase = 2 * ms;
  made.plan.run.frames = frames_that_arrive(made.plan, 1000);
  const run_record found = made.predicted();
  EXPECT_THAT(due_times(found), ElementsAre(2 * ms, 2 * ms, 2 * ms, 12 * ms, 12 * ms, 12 * ms));
  EXPECT_THAT(latencies(found), ElementsAre(ms, 2 * ms, 3 * ms, ms, 2 * ms, 3 * ms));
  EXPECT_EQ(found.load.longest_queue, 2);
}

TEST(predicted_load, with_jitter_counts_latency_from_the_due_time) {
  std::vector<nanoseconds> due;
  for (nanoseconds i = 0; i < 50; ++i) due.push_back(3 * ms * i);
  loaded_stage made(due);
  made.plan.run.jitter = ms;
  const run_record found = made.predicted();
  EXPECT_EQ(due_times(found), due);
  const auto times = latencies(found);
  EXPECT_THAT(times, Each(AllOf(Ge(ms), Le(2 * ms))));
  EXPECT_GT(*std::ranges::max_element(times) - *std::ranges::min_element(times), ms / 2);
  EXPECT_EQ(latencies(made.predicted()), times);
  made.plan.run.seed = 2;
  EXPECT_NE(latencies(made.predicted()), times);
}

TEST(predicted_load, of_a_trace_is_scaled_to_the_rate) {
  loaded_stage made({ms, 2 * ms, 2 * ms, 4 * ms});  // 1000 frames a second after the first
  made.plan.run.rate = 100;
  const run_record found = made.predicted();
  EXPECT_THAT(due_times(found), ElementsAre(10 * ms, 20 * ms, 20 * ms, 40 * ms));
  EXPECT_DOUBLE_EQ(*offered_rate(found), 100);
}

/// The highest rate at which at most 5 % of the frames take longer than the bound, without the
/// first tenth of them, on one server that takes 1 ms for each.
double capacity_of(const std::vector<nanoseconds>& due, double bound) {
  const double gap = static_cast<double>(due.back() - due.front()) /
                     static_cast<double>(due.end() - std::ranges::upper_bound(due, due.front()));
  double low = 1;
  double high = 1e6;
  for (int i = 0; i < 60; ++i) {
    const double rate = (low + high) / 2;
    double free = 0;
    std::size_t late = 0;
    for (std::size_t f = 0; f < due.size(); ++f) {
      const double at = static_cast<double>(due[f]) * 1e9 / rate / gap;
      free = std::max(free, at) + 1e6;
      if (f >= due.size() / 10 && free - at > bound) ++late;
    }
    const auto counted = static_cast<double>(due.size() - due.size() / 10);
    (static_cast<double>(late) <= 0.05 * counted ? low : high) = rate;
  }
  return low;
}

TEST(predicted_capacity, of_a_trace_is_the_rate_at_which_its_frames_meet_the_bound) {
  std::vector<nanoseconds> due;
  nanoseconds at = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    at += static_cast<nanoseconds>((i * i * 31) % 17 < 6 ? 0 : 1 + (i * 7919) % 13) * ms;
    due.push_back(at);
  }
  for (const nanoseconds bound : {3 * ms, 10 * ms}) {
    loaded_stage made(due);
    made.plan.run.rate = 1;
    predictor by(made.plan, {{"s.json", made.source}});
    capacity_settings how;
    how.arrival = arrival::trace;
    how.bound = bound;
    how.frames = 300;
    capacity_options options;
    options.prediction = by.origin();
    const auto found =
        summarize(find_capacity(how, make_predicted_probe(by, how), options)).estimate;
    const double truth = capacity_of(due, static_cast<double>(bound));
    EXPECT_LE(*found.low, truth) << bound;
    EXPECT_GE(*found.high, truth) << bound;
    EXPECT_NEAR(*found.rate, truth, 0.02 * truth) << bound;
  }
}

}  // namespace
}  // namespace graphline
