#include "framework/run/capacity_search.hpp"

#include <gtest/gtest.h>

#include <set>

#include "framework/analysis/capacity.hpp"
#include "framework/analysis/capacity_findings.hpp"
#include "tests/analysis/simulated_queue.hpp"

namespace graphline {
namespace {

using samples::simulated_queue;

probe_function probe_of(const simulated_queue& queue) {
  return [queue](const probe_request& request) {
    capacity_run run;
    run.record = queue.run(request.rate, request.frames, request.seed);
    return run;
  };
}

capacity_settings settings_for(const simulated_queue& queue, nanoseconds bound,
                               std::int64_t frames) {
  capacity_settings how;
  how.arrival = queue.arrival;
  how.bound = bound;
  how.frames = frames;
  return how;
}

/// The rate found; the search is expected to find and to confirm one.
double found_by(const capacity_record& record) {
  const auto summary = summarize(record);
  if (!summary.best || !summary.confirmed) return -1;
  return summary.probes[*summary.best].rate;
}

TEST(capacity_search, finds_the_throughput_where_frames_come_and_are_served_like_clockwork) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  const auto record = find_capacity(settings_for(queue, 5'000'000, 240), probe_of(queue));
  EXPECT_GT(found_by(record), 980);
  EXPECT_LE(found_by(record), 1001);
  const auto summary = summarize(record);
  ASSERT_TRUE(summary.worse);
  EXPECT_LE(summary.probes[*summary.worse].rate, found_by(record) * 1.0201);
}

TEST(capacity_search, finds_what_queueing_theory_says_of_random_arrivals_and_services) {
  const simulated_queue queue{arrival::poisson, 1e6, true};
  for (const double bound : {5e6, 10e6, 30e6}) {
    const double answer = samples::mm1_capacity(1e6, 0.95, bound);
    const auto how = settings_for(queue, static_cast<nanoseconds>(bound), 20'000);
    EXPECT_NEAR(found_by(find_capacity(how, probe_of(queue))) / answer, 1, 0.06) << bound;
  }
}

TEST(capacity_search, finds_what_queueing_theory_says_of_random_arrivals_alone) {
  const simulated_queue queue{arrival::poisson, 1e6, false};
  for (const double bound : {2.5e6, 5e6, 10e6}) {
    const double answer = samples::md1_capacity(1e6, 0.95, bound);
    const auto how = settings_for(queue, static_cast<nanoseconds>(bound), 20'000);
    EXPECT_NEAR(found_by(find_capacity(how, probe_of(queue))) / answer, 1, 0.06) << bound;
  }
}

TEST(capacity_search, of_usual_length_seldom_finds_much_too_high_a_rate) {
  const simulated_queue queue{arrival::poisson, 1e6, true};
  const double answer = samples::mm1_capacity(1e6, 0.95, 10e6);
  int too_high = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto how = settings_for(queue, 10'000'000, 0);
    how.seed = seed;
    if (found_by(find_capacity(how, probe_of(queue))) > 1.1 * answer) ++too_high;
  }
  EXPECT_LE(too_high, 4);
}

TEST(capacity_search, asks_for_no_rate_when_frames_alone_take_too_long) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  const auto record = find_capacity(settings_for(queue, 900'000, 240), probe_of(queue));
  EXPECT_TRUE(record.runs.empty());
  EXPECT_EQ(summarize(record).alone.verdict, bound_verdict::fails);
}

TEST(capacity_search, gives_up_below_a_thousandth_of_the_throughput) {
  // Two frames at a time, so that none is alone, and each late.
  const auto probe = [](const probe_request& request) {
    capacity_run run;
    const double gap = request.rate ? 1e9 / *request.rate : 1e6;
    run.record.run.frames = request.frames;
    for (std::int64_t i = 0; i < request.frames; ++i) {
      const auto at = static_cast<nanoseconds>(gap * static_cast<double>(i));
      run.record.frames.push_back({at, at, at + static_cast<nanoseconds>(1.5 * gap)});
    }
    return run;
  };
  const auto record = find_capacity(settings_for({}, 900'000, 240), probe);
  EXPECT_FALSE(summarize(record).best);
  EXPECT_EQ(record.runs.size(), 5U);
  EXPECT_FALSE(record.interrupted);
}

TEST(capacity_search, tries_rates_above_a_closed_loop_that_was_measured_too_low) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  const auto probe = [&](const probe_request& request) {
    capacity_run run;
    run.record = queue.run(request.rate, request.frames, request.seed);
    if (!request.rate) {
      for (auto& frame : run.record.frames) frame = {0, frame.begin * 2, frame.end * 2};
    }
    return run;
  };
  const auto record = find_capacity(settings_for(queue, 5'000'000, 240), probe);
  EXPECT_NEAR(*summarize(record).closed_loop, 500, 1);
  EXPECT_NEAR(found_by(record), 1000, 25);
}

TEST(capacity_search, lowers_a_rate_that_longer_runs_do_not_confirm) {
  // Slower once it has been busy for long, as a device that grows warm.
  const auto probe = [](const probe_request& request) {
    const simulated_queue queue{arrival::constant, request.frames > 500 ? 1.25e6 : 1e6, false};
    capacity_run run;
    run.record = queue.run(request.rate, request.frames, request.seed);
    return run;
  };
  const auto record = find_capacity(settings_for({}, 5'000'000, 240), probe);
  EXPECT_LE(found_by(record), 801);
  EXPECT_GT(found_by(record), 780);
}

TEST(capacity_search, confirms_at_other_moments_than_it_searched_at) {
  const simulated_queue queue{arrival::poisson, 1e6, false};
  std::set<std::uint64_t> searched;
  std::set<std::uint64_t> confirmed;
  const auto how = settings_for(queue, 5'000'000, 240);
  const auto record = find_capacity(how, [&](const probe_request& request) {
    (request.frames > how.frames ? confirmed : searched).insert(request.seed);
    return probe_of(queue)(request);
  });
  EXPECT_GE(confirmed.size(), 4U);
  for (const auto seed : confirmed) EXPECT_FALSE(searched.contains(seed));
  EXPECT_GT(found_by(record), 0);
}

TEST(capacity_search, keeps_what_is_known_when_it_is_interrupted_or_fails) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  for (const bool fails : {false, true}) {
    int runs = 0;
    const auto record =
        find_capacity(settings_for(queue, 5'000'000, 240), [&](const probe_request& request) {
          auto run = probe_of(queue)(request);
          if (++runs < 4) return run;
          run.record.frames.resize(20);
          run.record.interrupted = !fails;
          if (fails) run.record.failure = "stage 'a' failed";
          return run;
        });
    EXPECT_EQ(runs, 4);
    EXPECT_EQ(record.runs.size(), 3U);
    EXPECT_EQ(record.interrupted, !fails);
    const auto summary = summarize(record);
    ASSERT_TRUE(summary.best);
    EXPECT_FALSE(summary.confirmed);
    EXPECT_NEAR(summary.probes[*summary.best].rate, 707, 1);
  }
}

TEST(capacity_search, ends_between_runs_when_it_is_asked_to) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  stop_request stop;
  int runs = 0;
  const auto record = find_capacity(settings_for(queue, 5'000'000, 240),
                                    [&](const probe_request& request) {
                                      if (++runs == 2) stop.raise();
                                      return probe_of(queue)(request);
                                    },
                                    {.stop = &stop, .on_progress = {}});
  EXPECT_TRUE(record.interrupted);
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(summarize(record).best);
}

TEST(capacity_search, says_which_rate_runs_and_what_is_known) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  std::vector<capacity_progress> seen;
  const auto how = settings_for(queue, 5'000'000, 240);
  find_capacity(
      how,
      [&](const probe_request& request) {
        request.on_progress({false, 1, request.frames});
        return probe_of(queue)(request);
      },
      {.stop = nullptr, .on_progress = [&](const capacity_progress& at) { seen.push_back(at); }});
  ASSERT_GT(seen.size(), 4U);
  EXPECT_FALSE(seen[0].rate);
  EXPECT_NEAR(*seen[1].rate, 500, 1);
  EXPECT_FALSE(seen[1].holds);
  EXPECT_NEAR(*seen[2].holds, 500, 1);
  EXPECT_TRUE(seen.back().confirming);
  EXPECT_EQ(seen.back().run.total, 4 * how.frames);
}

TEST(capacity_search, needs_frames_enough_for_the_percentile) {
  EXPECT_EQ(least_capacity_frames(0.95), 79);
  EXPECT_EQ(usual_capacity_frames({}), 240);
  for (const double p : {0.5, 0.9, 0.95, 0.99, 0.999}) {
    EXPECT_LE(least_capacity_frames(p), usual_capacity_frames({.percentile = p})) << p;
  }
}

TEST(capacity_search, takes_more_frames_where_a_queue_takes_long_to_build_up) {
  const simulated_queue queue{arrival::poisson, 1e6, false};
  const auto frames_of = [&](nanoseconds bound) {
    return find_capacity(settings_for(queue, bound, 0), probe_of(queue)).how.frames;
  };
  EXPECT_EQ(frames_of(5'000'000), 1000);  // a second's
  EXPECT_EQ(frames_of(30'000'000), 1800);
  EXPECT_EQ(usual_capacity_frames(settings_for(queue, 1'000'000'000, 0), 30), 900);
  EXPECT_EQ(frames_for_queue(settings_for({}, 1'000'000'000, 0), 30), 0);
}

TEST(capacity_search, of_runs_too_short_for_the_queue_is_said_to_be_doubtful) {
  const simulated_queue queue{arrival::poisson, 1e6, false};
  const auto how = settings_for(queue, 30'000'000, 240);
  const auto found = findings_of(summarize(find_capacity(how, probe_of(queue))), how);
  EXPECT_NE(found.back().find("--frames 1800"), std::string::npos) << found.back();
}

}  // namespace
}  // namespace graphline
