#include "framework/campaign/capacity/capacity_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/device/host/host_device.hpp"
#include "tests/analysis/simulated_queue.hpp"
#include "tests/run/watched_queue.hpp"

namespace graphline {
namespace {

using samples::simulated_queue;

probe_function probe_of(const simulated_queue& queue) {
  return [queue](const probe_request& request) {
    capacity_run run;
    run.members = {queue.run(request.rate, request.frames, request.seed)};
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

capacity_estimate estimate_of(const capacity_record& record) {
  return summarize(record).estimate;
}

/// The outcome of searches with different seeds.
struct many_searches {
  int holding = 0;             ///< whose interval holds the truth
  int narrow = 0;              ///< whose interval is as narrow as asked for
  std::vector<double> points;  ///< over the truth, ascending
  std::vector<double> widths;  ///< of the intervals, as a part of the rate, ascending
  std::vector<double> frames;  ///< that each search took, ascending
  int disturbed = 0;           ///< runs that were left out

  double median_point() const { return points.at(points.size() / 2); }
  double median_width() const { return widths.at(widths.size() / 2); }
  double median_frames() const { return frames.at(frames.size() / 2); }
};

constexpr int searches = 20;

many_searches search_often(const simulated_queue& queue, capacity_settings how, double truth) {
  many_searches result;
  for (int i = 0; i < searches; ++i) {
    how.seed = static_cast<std::uint64_t>(1 + i);
    double frames = 0;
    const auto record = find_capacity(how, [&](const probe_request& request) {
      frames += static_cast<double>(request.frames);
      return probe_of(queue)(request);
    });
    const auto found = estimate_of(record);
    if (!found.low || !found.high) continue;
    result.holding += *found.low <= truth && truth <= *found.high ? 1 : 0;
    result.narrow += *found.width() <= how.within ? 1 : 0;
    result.points.push_back(*found.rate / truth);
    result.widths.push_back(*found.width());
    result.frames.push_back(frames);
    result.disturbed +=
        static_cast<int>(std::count(found.disturbed.begin(), found.disturbed.end(), true));
  }
  for (auto* all : {&result.points, &result.widths, &result.frames}) {
    std::sort(all->begin(), all->end());
  }
  return result;
}

/// For 95 % intervals; with other seeds, 8 of 100 such tests find fewer.
constexpr int nearly_all = 18;

TEST(capacity_search, interval_holds_what_queueing_theory_says_of_random_arrivals) {
  const simulated_queue queue{.arrival = arrival::poisson, .mean_service = 5e6};
  for (const double bound : {10e6, 20e6, 60e6}) {
    const double truth = samples::md1_capacity(5e6, 0.95, bound);
    const auto how = settings_for(queue, static_cast<nanoseconds>(bound), 0);
    const auto found = search_often(queue, how, truth);
    EXPECT_GE(found.holding, nearly_all) << bound;
    EXPECT_GE(found.narrow, searches * 9 / 10) << bound;
    EXPECT_NEAR(found.median_point(), 1, 0.005) << bound;
    EXPECT_LE(found.median_frames(), 25'000) << bound;
  }
}

TEST(capacity_search, interval_holds_what_queueing_theory_says_of_random_bursts) {
  const simulated_queue queue{.arrival = arrival::poisson, .mean_service = 5e6, .burst = 4};
  for (const double bound : {35e6, 120e6}) {
    const double truth = samples::md1_capacity(5e6, 0.95, bound, 4);
    const auto how = settings_for(queue, static_cast<nanoseconds>(bound), 0);
    const auto found = search_often(queue, how, truth);
    EXPECT_GE(found.holding, nearly_all) << bound;
    EXPECT_NEAR(found.median_point(), 1, 0.01) << bound;
  }
}

TEST(capacity_search, interval_holds_the_truth_of_a_queue_unlike_the_reference) {
  const simulated_queue queue{.arrival = arrival::poisson, .mean_service = 5e6, .random = true};
  const double truth = samples::mm1_capacity(5e6, 0.95, 40e6);
  auto how = settings_for(queue, 40'000'000, 0);
  how.within = 0.1;
  const auto found = search_often(queue, how, truth);
  // Late frames come in few bunches, and the interval is a little too narrow: docs/metrics.md.
  EXPECT_GE(found.holding, 16);
  EXPECT_NEAR(found.median_point(), 1, 0.02);
  EXPECT_LE(found.median_width(), 0.15);
}

TEST(capacity_search, interval_holds_the_throughput_where_frames_come_like_clockwork) {
  for (const double noise : {0.0, 0.02}) {
    const simulated_queue queue{.mean_service = 5e6, .noise = noise};
    // The bound is exceeded from 1.5 noise^2 / (bound / service - 1) below the service rate on, in
    // heavy traffic (Kingman 1962): 0.02 %.
    const double truth = 200 * (1 - 1.5 * noise * noise / 3);
    const auto found = search_often(queue, settings_for(queue, 20'000'000, 0), truth);
    EXPECT_GE(found.holding, nearly_all) << noise;
    EXPECT_EQ(found.narrow, searches) << noise;
    EXPECT_NEAR(found.median_point(), 1, 0.01) << noise;
    EXPECT_LE(found.median_frames(), 15'000) << noise;
  }
}

TEST(capacity_search, repeats_runs_in_which_the_machine_stood_still) {
  for (const auto arrival : {arrival::poisson, arrival::constant}) {
    const simulated_queue queue{
        .arrival = arrival, .mean_service = 5e6, .noise = 0.01, .stalls = 0.15};
    const double truth = arrival == arrival::poisson ? samples::md1_capacity(5e6, 0.95, 20e6) : 200;
    const auto found = search_often(queue, settings_for(queue, 20'000'000, 0), truth);
    EXPECT_GE(found.holding, nearly_all);
    EXPECT_NEAR(found.median_point(), 1, 0.01);
    EXPECT_GE(found.narrow, searches * 9 / 10);
    EXPECT_GE(found.disturbed, searches);
  }
}

// ---- Batches
// -------------------------------------------------------------------------------------

/// Batches of up to eight frames take 5 ms and half a millisecond for each frame after the first.
simulated_queue batches_of_eight(arrival how, double wait) {
  return {
      .arrival = how, .mean_service = 5e6, .batch_frames = 8, .batch_wait = wait, .more = 0.5e6};
}

TEST(simulated_queue, takes_batches_as_a_queue_that_watches_the_clock) {
  for (const nanoseconds wait : {0, 7, 30, 500}) {
    for (const nanoseconds gap : {3, 5, 11, 40}) {
      const simulated_queue queue{.mean_service = 20,
                                  .batch_frames = 4,
                                  .batch_wait = static_cast<double>(wait),
                                  .more = 3};
      const auto found = queue.run(1e9 / static_cast<double>(gap), 50, 1);
      std::vector<nanoseconds> arrivals;
      for (nanoseconds i = 0; i < 50; ++i) arrivals.push_back(i * gap);
      testing_load::course work;
      work.work = [](std::size_t, std::size_t count) {
        return 17 + 3 * static_cast<nanoseconds>(count);
      };
      const auto expected =
          testing_load::watched_queue(50, queue_policy::block, {4, wait}, work).run(arrivals);
      ASSERT_EQ(found.batches.size(), expected.due.size()) << wait << ' ' << gap;
      std::size_t frame = 0;
      for (std::size_t pass = 0; pass < expected.due.size(); ++pass) {
        EXPECT_EQ(found.batches[pass].ready, expected.ready[pass]);
        for (const auto due : expected.due[pass]) {
          EXPECT_EQ(found.frames[frame].due, due);
          EXPECT_EQ(found.frames[frame++].begin, expected.begun[pass]);
        }
      }
    }
  }
}

TEST(capacity_search, interval_holds_the_truth_with_batches) {
  // The true rates with random arrivals come from a simulation of 40 million frames.
  struct batch_case {
    arrival how;
    double wait;
    nanoseconds bound;
    double truth;
    double within;
  };
  for (const auto& [how, wait, bound, truth, within] : {
           batch_case{arrival::poisson, 0, 11'000'000, 262.17, 0.04},
           batch_case{arrival::poisson, 100e6, 25'000'000, 832.77, 0.02},
           batch_case{arrival::constant, 0, 11'000'000, 379.15, 0.02},
           batch_case{arrival::constant, 100e6, 18'000'000, 941.17, 0.02},
       }) {
    const auto queue = batches_of_eight(how, wait);
    auto settings = settings_for(queue, bound, 0);
    settings.within = within;
    const auto found = search_often(queue, settings, truth);
    EXPECT_GE(found.holding, nearly_all) << truth;
    EXPECT_NEAR(found.median_point(), 1, 0.01) << truth;
    EXPECT_EQ(found.disturbed, 0) << truth;
  }
}

TEST(capacity_search, ends_when_frames_alone_wait_too_long_for_others) {
  const auto queue = batches_of_eight(arrival::constant, 100e6);
  const auto how = settings_for(queue, 12'000'000, 0);
  const auto record = find_capacity(how, probe_of(queue));
  EXPECT_EQ(findings_of(summarize(record), how).front().key, "no_rate_held");
  const double lowest = record.runs.back().rate;  // the first at which frames run alone
  EXPECT_LT(lowest, 10);
  EXPECT_GT(4 * lowest, 10);
}

TEST(capacity_search, goes_on_after_runs_that_it_cut_off) {
  const simulated_queue queue{.mean_service = 5e6};
  int cut_off = 0;
  const auto record = find_capacity(settings_for(queue, 20'000'000, 0), [&](const auto& request) {
    auto run = probe_of(queue)(request);
    if (!request.may_cut_off || request.rate < 210) return run;
    ++cut_off;
    run.cut_off = true;
    run.members.front().interrupted = true;
    return run;
  });
  EXPECT_GT(cut_off, 0);
  EXPECT_FALSE(record.interrupted);
  EXPECT_NEAR(*estimate_of(record).rate, 200, 4);
}

TEST(capacity_search, does_not_take_what_the_pipeline_always_does_for_a_disturbance) {
  const simulated_queue queue{.mean_service = 5e6, .noise = 0.1};
  const auto found = search_often(queue, settings_for(queue, 20'000'000, 0), 200);
  EXPECT_LE(found.disturbed, searches / 10);
}

TEST(capacity_search, asks_for_no_rate_when_frames_alone_take_too_long) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  const auto record = find_capacity(settings_for(queue, 900'000, 240), probe_of(queue));
  EXPECT_TRUE(record.runs.empty());
  EXPECT_EQ(summarize(record).alone.verdict, bound_verdict::fails);
}

TEST(capacity_search, tries_rates_above_a_closed_loop_that_was_measured_too_low) {
  for (const auto arrival : {arrival::poisson, arrival::constant}) {
    const simulated_queue queue{.arrival = arrival};
    const auto probe = [&](const probe_request& request) {
      capacity_run run;
      run.members = {queue.run(request.rate, request.frames, request.seed)};
      if (!request.rate) {
        for (auto& frame : run.members.front().frames) frame = {0, frame.begin * 2, frame.end * 2};
      }
      return run;
    };
    const auto record = find_capacity(settings_for(queue, 20'000'000, 240), probe);
    const double truth =
        arrival == arrival::poisson ? samples::md1_capacity(1e6, 0.95, 20e6) : 1000;
    EXPECT_NEAR(*summarize(record).closed_loop, 500, 1);
    EXPECT_NEAR(*estimate_of(record).rate / truth, 1, 0.03);
  }
}

TEST(capacity_search, draws_other_moments_in_every_run_and_cuts_none_off_that_is_pooled) {
  const simulated_queue queue{.arrival = arrival::poisson};
  const auto how = settings_for(queue, 5'000'000, 240);
  std::set<std::uint64_t> seeds;
  std::size_t runs = 0;
  find_capacity(how, [&](const probe_request& request) {
    seeds.insert(request.seed);
    ++runs;
    if (request.rate) {
      EXPECT_EQ(request.may_cut_off, request.frames == how.frames);
    }
    return probe_of(queue)(request);
  });
  EXPECT_EQ(seeds.size(), runs);
}

TEST(capacity_search, says_when_every_rate_holds) {
  // Keeps up with any rate.
  const auto probe = [](const probe_request& request) {
    capacity_run run;
    run.members = {simulated_queue{}.run(request.rate, request.frames, request.seed)};
    run.members.front().run.arrival = arrival::constant;
    for (auto& frame : run.members.front().frames) {
      if (request.rate) frame.begin = frame.due, frame.end = frame.due + 1'000'000;
    }
    return run;
  };
  const auto how = settings_for({}, 5'000'000, 240);
  const auto summary = summarize(find_capacity(how, probe));
  EXPECT_FALSE(summary.estimate.rate);
  EXPECT_EQ(findings_of(summary, how).front().key, "every_rate_held");
}

TEST(capacity_search, keeps_what_is_known_when_it_is_interrupted_or_fails) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  for (const bool fails : {false, true}) {
    int runs = 0;
    const auto record =
        find_capacity(settings_for(queue, 5'000'000, 240), [&](const probe_request& request) {
          auto run = probe_of(queue)(request);
          if (++runs < 4) return run;
          run.members.front().frames.resize(20);
          run.members.front().interrupted = !fails;
          if (fails) run.members.front().failure = "stage 'a' failed";
          return run;
        });
    EXPECT_EQ(runs, 4);
    EXPECT_EQ(record.runs.size(), 3U);
    EXPECT_EQ(record.interrupted, !fails);
    const auto summary = summarize(record);
    EXPECT_FALSE(summary.estimate.rate);
    EXPECT_EQ(findings_of(summary, record.how).front().key, "search_ended_early");
    EXPECT_EQ(summary.probes.size(), 3U);
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
  EXPECT_EQ(summarize(record).probes.front().held, 1U);
}

TEST(capacity_search, tells_how_far_it_is_and_what_else_the_machine_did) {
  const simulated_queue queue{arrival::constant, 1e6, false};
  const auto how = settings_for(queue, 5'000'000, 240);
  EXPECT_FALSE(find_capacity(how, probe_of(queue)).conditions);
  const auto d = open_host_device(1);
  nanoseconds runs = 0;
  std::vector<capacity_progress> seen;
  capacity_options options;
  options.on_progress = [&](const capacity_progress& at) { seen.push_back(at); };
  options.watch_machine = [&] {
    return machine_watch(*d, [&runs] {
      return machine_state{
          .at = 1000 * (1 + runs), .own = 0, .cores = 2, .used = core_times{1700 * runs, runs}};
    });
  };
  const auto record = find_capacity(
      how,
      [&](const probe_request& request) {
        ++runs;
        request.on_progress({false, 1, request.frames});
        return probe_of(queue)(request);
      },
      options);
  ASSERT_TRUE(record.conditions);
  EXPECT_EQ(record.conditions->lasted, 1000 * runs);
  EXPECT_EQ(record.conditions->others, 1700 * runs);
  ASSERT_GT(seen.size(), 4U);
  EXPECT_FALSE(seen[0].rate);
  EXPECT_NEAR(*seen[1].rate, 500, 1);
  EXPECT_FALSE(seen[1].low);
  EXPECT_NEAR(*seen[2].low, 500, 1);
  EXPECT_FALSE(seen[2].high);
  ASSERT_TRUE(seen.back().low && seen.back().high);
  EXPECT_LT(*seen.back().low, *seen.back().high);
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
  EXPECT_EQ(frames_of(30'000'000), 3600);
  EXPECT_EQ(usual_capacity_frames(settings_for(queue, 1'000'000'000, 0), 30), 900);
  EXPECT_EQ(frames_for_queue(settings_for({}, 1'000'000'000, 0), 30), 0);
}

}  // namespace
}  // namespace graphline
