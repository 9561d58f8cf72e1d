#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/machine_state.hpp"
#include "stages/kinds.hpp"
#include "stages/spinning.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(spin, uses_the_processor_all_that_time_and_never_less) {
  for (const nanoseconds wanted : {1'000, 50'000, 3'000'000, 20'000'000}) {
    stage_trial trial(spin_kind(), "{duration: " + std::to_string(wanted) + "ns}");
    for (int i = 0; i < 5; ++i) {
      const nanoseconds start = thread_processor_time();
      trial.run();
      EXPECT_GE(thread_processor_time() - start, wanted);
    }
  }
}

TEST(spin, on_one_core_takes_as_long_as_all_who_want_it_need_together) {
  const auto usable = affinity_cpus();
  if (usable.empty()) GTEST_SKIP() << "the system does not tell which CPUs there are";
  constexpr nanoseconds wanted = 40'000'000;
  std::barrier start(2);
  struct times {
    nanoseconds begin = 0;
    nanoseconds end = 0;
    nanoseconds used = 0;
  };
  std::array<times, 2> seen;
  const auto spin_there = [&](times& of) {
    const scoped_cpu_affinity one({usable.front()});
    stage_trial trial(spin_kind(), "{duration: 40ms}");
    start.arrive_and_wait();
    of.begin = now();
    const nanoseconds used = thread_processor_time();
    trial.run();
    of.used = thread_processor_time() - used;
    of.end = now();
  };
  std::thread other([&] { spin_there(seen[0]); });
  spin_there(seen[1]);
  other.join();
  for (const times& of : seen) EXPECT_GE(of.used, wanted);
  // CPU time never exceeds wall time.
  EXPECT_GE(std::max(seen[0].end, seen[1].end) - std::min(seen[0].begin, seen[1].begin),
            2 * wanted);
}

TEST(spin, by_the_wall_clock_takes_that_time_whoever_has_the_core) {
  stage_trial trial(spin_kind(), "{duration: 5ms, clock: wall}");
  const nanoseconds start = now();
  trial.run();
  EXPECT_GE(now() - start, 5'000'000);
}

TEST(spin, writes_nothing_and_takes_any_inputs) {
  const stage_trial none(spin_kind(), "{duration: 0ms}");
  EXPECT_THAT(none.complaints(), IsEmpty());
  EXPECT_THAT(none.prepared().outputs, IsEmpty());
  const stage_trial two(spin_kind(), "{duration: 0ms}",
                        {{{2}, dtype::float32}, {{3, 4}, dtype::int64}});
  EXPECT_THAT(two.complaints(), IsEmpty());
  EXPECT_EQ(two.prepared().cost.bytes_read, 0);
  EXPECT_EQ(two.prepared().known, known_cost::all);
}

TEST(spin, stalls_in_the_one_frame_it_is_told) {
  stage_trial trial(spin_kind(), "{duration: 0ms, stall: 5ms, stall_at: 2}");
  std::vector<nanoseconds> times;
  for (std::int64_t frame = 0; frame < 4; ++frame) {
    const nanoseconds start = now();
    trial.run(frame);
    times.push_back(now() - start);
  }
  EXPECT_GE(times[2], 5'000'000);
  // The other frames do nothing; a busy machine does not delay all of them.
  EXPECT_LT(std::min({times[0], times[1], times[3]}), times[2]);
}

TEST(spin, takes_longer_for_each_row_of_the_frame) {
  stage_trial trial(spin_kind(), "{duration: 1ms, per_row: 500us}", {{{4, 2}, dtype::float32}});
  for (const std::int64_t rows : {1, 4}) {
    const nanoseconds start = thread_processor_time();
    trial.outputs_of_rows(rows);
    EXPECT_GE(thread_processor_time() - start, 1'000'000 + rows * 500'000);
  }
  EXPECT_THAT(stage_trial(spin_kind(), "{duration: 1ms, per_row: 1us}").complaints(),
              ElementsAre(HasSubstr("add 'reads'")));
  EXPECT_EQ(add_rows(1'000, 300, 4), 2'200);
  EXPECT_EQ(add_rows(1'000, nanoseconds{1} << 60, 1 << 30), 3'000'000'000'000'000'000);
}

TEST(spin, asks_which_frame_stalls) {
  const auto complaints = stage_trial(spin_kind(), "{duration: 0ms, stall: 5ms}").complaints();
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("add stall_at")));
  EXPECT_THAT(stage_trial(spin_kind(), "{duration: 0ms, stall_at: 3}").complaints(), IsEmpty());
  EXPECT_THAT(stage_trial(spin_kind(), "{duration: 0ms, stall: 1ms, stall_at: -1}").complaints(),
              SizeIs(1));
}

spin_durations durations_of(const std::string& yaml) {
  diagnostics out;
  const auto source = std::make_shared<source_text>("trial.yaml", yaml);
  const arguments given = bind_arguments(spin_duration_parameters(), read_yaml(source, out),
                                         "trial", {source, 1, 1, 1}, ".", out);
  spin_durations durations = spin_durations::read(given, out);
  out.throw_if_errors();
  return durations;
}

std::vector<double> drawn(const spin_durations& durations, std::int64_t frames,
                          std::uint64_t seed = 1) {
  std::vector<double> values;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    values.push_back(static_cast<double>(durations.of_frame(frame, seed)));
  }
  return values;
}

TEST(spin_durations, have_the_mean_and_the_standard_deviation_of_their_distribution) {
  const struct {
    const char* yaml;
    double stddev;
    double kurtosis;  ///< fourth central moment over the square of the variance
  } cases[] = {
      {"{duration: 5ms, distribution: uniform, stddev: 1ms}", 1e6, 1.8},
      {"{duration: 5ms, distribution: normal, stddev: 1ms}", 1e6, 3},
      {"{duration: 5ms, distribution: exponential}", 5e6, 9},
      // w^4 + 2 w^3 + 3 w^2 - 3 with w = 1.04, the exponential of the logarithm's variance.
      {"{duration: 5ms, distribution: lognormal, stddev: 1ms}", 1e6, 3.6642},
  };
  constexpr std::int64_t frames = 200'000;
  for (const auto& [yaml, stddev, kurtosis] : cases) {
    const auto values = drawn(durations_of(yaml), frames);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / frames;
    double variance = 0;
    double fourth = 0;
    for (const double value : values) {
      variance += std::pow(value - mean, 2) / frames;
      fourth += std::pow(value - mean, 4) / frames;
    }
    // Five standard errors of a mean, and of a variance.
    EXPECT_NEAR(mean, 5e6, 5 * stddev / std::sqrt(frames)) << yaml;
    EXPECT_NEAR(variance / (stddev * stddev), 1, 5 * std::sqrt((kurtosis - 1) / frames)) << yaml;
    EXPECT_NEAR(fourth / (variance * variance), kurtosis, 0.15 * kurtosis) << yaml;
  }
}

TEST(spin_durations, are_those_of_the_seed_and_the_frame_whatever_ran_before) {
  const std::string yaml = "{duration: 5ms, distribution: normal, stddev: 1ms}";
  const auto one = durations_of(yaml);
  const auto all = drawn(one, 100);
  EXPECT_EQ(static_cast<double>(one.of_frame(37, 1)), all[37]);
  EXPECT_EQ(drawn(durations_of(yaml), 100), all);
  EXPECT_NE(drawn(durations_of(yaml), 100, 2), all);
}

TEST(spin_durations, are_never_negative) {
  for (const double value :
       drawn(durations_of("{duration: 1ms, distribution: normal, stddev: 9ms}"), 1000)) {
    EXPECT_GE(value, 0);
  }
}

TEST(spin_durations, of_a_file_are_used_over_and_over) {
  const temporary_folder folder;
  const auto path = folder.write("times.txt", "# of a camera\n12.5ms # dark\n\n  300us \r\n1 s#");
  const auto times = durations_of("{durations: " + path.string() + "}");
  EXPECT_THAT(drawn(times, 5), ElementsAre(12.5e6, 300e3, 1e9, 12.5e6, 300e3));
}

TEST(spin_durations, name_what_is_wrong_with_them) {
  const temporary_folder folder;
  const auto bad = folder.write("bad.txt", "1ms\n  hush # c\n");
  const auto eons = folder.write("eons.txt", "1ms\n300000000min\n");
  const auto pointer =
      folder.write("pointer.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n");
  const auto empty = folder.write("empty.txt", "# nothing\n");
  const std::pair<std::string, const char*> cases[] = {
      {"{}", "it needs a time; add 'duration'"},
      {"{duration: 1ms, durations: a.txt}", "'duration' and 'durations' exclude each other"},
      {"{durations: a.txt, distribution: normal}", "a distribution applies to 'duration'"},
      {"{durations: " + bad.string() + "}",
       "bad.txt:2:3: expected a duration with its unit, such as"},
      {"{durations: " + eons.string() + "}",
       "eons.txt:2:1: expected a duration with its unit below"},
      {"{durations: " + pointer.string() + "}", "this is a Git LFS pointer, not the file"},
      {"{durations: " + empty.string() + "}", "no duration in it"},
      {"{durations: nowhere.txt}", "nowhere.txt"},
      {"{duration: 1ms, stddev: 1ms}", "'stddev' applies to a distribution"},
      {"{duration: 1ms, distribution: normal}", "a normal distribution needs 'stddev'"},
      {"{duration: 1ms, distribution: exponential, stddev: 1ms}", "is 'duration' itself"},
      {"{duration: 1ms, distribution: uniform, stddev: 1ms}", "is 577 us at most"},
      {"{duration: 0ms, distribution: lognormal, stddev: 1ms}", "must be above 0"},
  };
  for (const auto& [yaml, expected] : cases) {
    const auto complaints = stage_trial(spin_kind(), yaml).complaints();
    EXPECT_THAT(complaints, testing::Contains(HasSubstr(expected))) << yaml;
    EXPECT_THAT(complaints, testing::Each(Not(HasSubstr("hush")))) << yaml;
  }
}

}  // namespace
}  // namespace graphline
