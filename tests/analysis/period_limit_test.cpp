#include "framework/analysis/run/period_limit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/analysis/made_run.hpp"
#include "tests/analysis/time_units.hpp"

namespace graphline {
namespace {

using samples::made_run;
using samples::ms;
using samples::us;

/// Returns "stage: 0, 99.6 %".
std::string limit_of(const run_record& record) {
  const auto found = limit_of_period(record);
  if (!found) return "nothing";
  return fmt::format("{}: {}, {:.1f} %", to_word(found->what), fmt::join(found->stages, " "),
                     100 * found->share);
}

struct work {
  side on = side::cpu;
  nanoseconds time = 0;
};

/// Twenty frames, one completed per `period`, with these stage times.
run_record pipelined(strategy how, const std::vector<work>& stages, nanoseconds period,
                     int cores = 4) {
  made_run made(how, timing_method::event, "host");
  std::vector<std::string> names;
  for (std::size_t s = 0; s < stages.size(); ++s) names.push_back("s" + std::to_string(s));
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].on == side::cpu) made.cpu_stage(names[s].c_str());
    if (stages[s].on == side::device) made.device_stage(names[s].c_str());
  }
  for (nanoseconds f = 0; f < 20; ++f) {
    const auto t = f * period;
    made.frame(t, t + 3 * period);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (stages[s].on == side::cpu) {
        made.cpu(s, t, t + stages[s].time,
                 how == strategy::overlap ? static_cast<std::uint32_t>(s) : 0);
      } else {
        made.launch(s, t, t + 10 * us).device(s, t, t + period).busy(s, stages[s].time);
      }
    }
  }
  made.record.cpu_cores = cores;
  made.record.run.in_flight = 3;
  return made.record;
}

TEST(period_limit, is_the_cpu_stage_that_fills_the_period) {
  const auto record = pipelined(
      strategy::overlap,
      {{side::cpu, 9'960 * us}, {side::device, 10 * us}, {side::device, 10 * us}}, 10 * ms);
  EXPECT_EQ(limit_of(record), "stage: 0, 99.6 %");
}

TEST(period_limit, is_a_shared_resource_if_no_stage_fills_the_period) {
  const std::vector<work> networks = {{side::device, 5 * ms}, {side::device, 4'900 * us}};
  EXPECT_EQ(limit_of(pipelined(strategy::overlap, networks, 10 * ms)), "device: 0 1, 99.0 %");
  const std::vector<work> cpu = {{side::cpu, 6 * ms}, {side::cpu, 7 * ms}, {side::cpu, 6 * ms}};
  EXPECT_EQ(limit_of(pipelined(strategy::overlap, cpu, 10 * ms, 2)), "cpu_cores: 0 1 2, 95.0 %");
  EXPECT_EQ(limit_of(pipelined(strategy::overlap, cpu, 10 * ms, 3)), "nothing");
  // One host thread, which launches too.
  const std::vector<work> thread = {{side::cpu, 6 * ms}, {side::cpu, 3 * ms}, {side::device, ms}};
  EXPECT_EQ(limit_of(pipelined(strategy::async, thread, 9'900 * us)), "host_thread: 0 1, 91.0 %");
}

TEST(period_limit, is_the_stage_if_the_device_does_little_else) {
  const std::vector<work> one = {{side::device, 9'900 * us}, {side::device, 50 * us}};
  EXPECT_EQ(limit_of(pipelined(strategy::overlap, one, 10 * ms)), "stage: 0, 99.0 %");
  const std::vector<work> alike = {{side::cpu, 9'900 * us}, {side::device, 9'950 * us}};
  EXPECT_EQ(limit_of(pipelined(strategy::overlap, alike, 10 * ms)), "stage: 0 1, 99.5 %");
}

TEST(period_limit, is_empty_if_no_resource_is_full_or_frames_are_sequential) {
  const std::vector<work> half = {{side::cpu, 5 * ms}, {side::device, 4 * ms}};
  EXPECT_EQ(limit_of(pipelined(strategy::overlap, half, 10 * ms)), "nothing");
  auto alone = pipelined(strategy::overlap, {{side::cpu, 9'960 * us}}, 10 * ms);
  alone.run.in_flight = 1;
  EXPECT_EQ(limit_of(alone), "nothing");
  // A stage of 9.96 ms does not limit frames that arrive every 10 ms.
  alone.run.in_flight = 3;
  alone.run.arrival = arrival::constant;
  alone.run.rate = 100;
  EXPECT_EQ(limit_of(alone), "nothing");
}

}  // namespace
}  // namespace graphline
