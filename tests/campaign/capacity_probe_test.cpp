#include "framework/campaign/capacity/capacity_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/device/host/host_device.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// A pipeline with a CPU stage of at least a millisecond, run by the search's probe.
class session_probe : public ::testing::Test {
 protected:
  capacity_run run(std::optional<double> rate, std::int64_t frames, std::uint64_t seed = 1) {
    const auto registry = make_registry([this](const std::string&, std::int64_t frame) {
      if (frame == stop_at_) stop_.raise();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    auto spec = pipeline_of({make_stage("a", "cpu_mix", {})});
    spec.run.arrival = how_.arrival;
    spec.run.rate = 1;
    spec.run.warmup = 1;
    spec.run.when_full = when_full_;
    spec.run.queue = std::max<std::int64_t>(4, batch_frames_);
    spec.run.batch_frames = batch_frames_;
    session s(plan_for_host(spec, registry), *device_);
    return make_session_probe(s, how_, &stop_)({rate, frames, seed, may_cut_off_, {}});
  }

  capacity_settings how_ = {.bound = 5'000'000};
  queue_policy when_full_ = queue_policy::block;
  bool may_cut_off_ = true;
  std::int64_t stop_at_ = -1;
  std::int64_t batch_frames_ = 1;
  stop_request stop_;
  std::unique_ptr<device> device_ = open_host_device(1);
};

TEST_F(session_probe, runs_frames_at_the_rate_asked_for) {
  const auto probe = run(200, 10);
  ASSERT_EQ(probe.members.front().frames.size(), 10U);
  EXPECT_FALSE(probe.cut_off);
  for (std::size_t i = 1; i < 10; ++i) {
    EXPECT_EQ(probe.members.front().frames[i].due - probe.members.front().frames[i - 1].due,
              5'000'000);
  }
}

TEST_F(session_probe, draws_other_moments_from_another_seed) {
  how_.arrival = arrival::poisson;
  const auto moments = [&](std::uint64_t seed) {
    const auto frames = run(5000, 20, seed).members.front().frames;
    std::vector<nanoseconds> due;
    for (const auto& frame : frames) due.push_back(frame.due - frames.front().due);
    return due;
  };
  EXPECT_EQ(moments(1), moments(1));
  EXPECT_NE(moments(1), moments(2));
}

TEST_F(session_probe, cuts_off_a_run_in_which_frames_come_much_faster_than_they_are_done) {
  const auto probe = run(1e5, 20'000);
  EXPECT_TRUE(probe.cut_off);
  EXPECT_LT(probe.members.front().frames.size(), 10'000U);
  EXPECT_GE(probe.overdue, 1000);
  EXPECT_LE(probe.overdue + static_cast<std::int64_t>(probe.members.front().frames.size()), 20'000);
  EXPECT_FALSE(summarize(probe, how_).held);
}

TEST_F(session_probe, does_not_cut_off_a_run_that_is_to_count_as_it_is) {
  may_cut_off_ = false;
  const auto probe = run(1e5, 200);
  EXPECT_FALSE(probe.cut_off);
  EXPECT_EQ(probe.members.front().frames.size(), 200U);
}

TEST_F(session_probe, does_not_take_a_request_to_stop_for_a_verdict) {
  stop_at_ = 5;
  const auto probe = run(500, 1000);
  EXPECT_TRUE(probe.members.front().interrupted);
  EXPECT_FALSE(probe.cut_off);
  EXPECT_EQ(probe.overdue, 0);
}

TEST_F(session_probe, has_all_frames_due_at_once_for_the_closed_loop) {
  const auto frames = run({}, 50).members.front().frames;
  ASSERT_EQ(frames.size(), 50U);
  EXPECT_LT(frames.back().due - frames.front().due, 1'000'000);
}

TEST_F(session_probe, runs_many_batches_in_the_closed_loop) {
  batch_frames_ = 64;
  const auto record = run({}, 50).members.front();
  EXPECT_EQ(record.frames.size(), 12U * 64);
  EXPECT_EQ(record.run.frames, 12 * 64);
}

TEST_F(session_probe, keeps_the_closed_loop_busy_where_a_full_queue_drops_frames) {
  for (const auto policy : {queue_policy::drop_oldest, queue_policy::drop_newest}) {
    when_full_ = policy;
    const auto probe = run({}, 200);
    EXPECT_FALSE(probe.members.front().load.dropped.empty());
    EXPECT_GE(probe.members.front().frames.size(), 10U);
  }
}

TEST(overdue_frames, are_those_due_before_the_bound_and_not_done) {
  capacity_settings how;
  how.bound = 10'000'000;
  EXPECT_EQ(overdue_frames(how, 1000, 1000, 10'000'000, 0), 0);
  EXPECT_EQ(overdue_frames(how, 1000, 1000, 110'000'000, 0), 100);
  EXPECT_EQ(overdue_frames(how, 1000, 1000, 110'000'000, 60), 40);
  EXPECT_EQ(overdue_frames(how, 1000, 1000, 110'000'000, 101), 0);
  EXPECT_EQ(overdue_frames(how, 1000, 90, 110'000'000, 60), 30);
  how.arrival = arrival::poisson;
  EXPECT_EQ(overdue_frames(how, 1000, 1000, 110'000'000, 0), 70);
  EXPECT_EQ(overdue_frames(how, 1000, 1000, 110'000'000, 0, 4), 40);  // 3 sqrt(4 * 100) fewer
}

TEST(enough_late, are_more_than_the_percentile_allows_in_the_whole_run) {
  capacity_settings how;
  how.bound = 10;
  for (const double p : {0.5, 0.9, 0.95, 0.99, 0.999}) {
    how.percentile = p;
    const auto frames = usual_capacity_frames(how);
    const auto late = enough_late(how, frames);
    ASSERT_LT(late, frames) << p;
    // First the frames in time, then the late ones: the strongest clustering.
    std::vector<nanoseconds> times(static_cast<std::size_t>(frames - late), 5);
    times.resize(static_cast<std::size_t>(frames), 20);
    EXPECT_GT(check_bound({times}, p, how.bound).late_share(), 1 - p);
  }
}

}  // namespace
}  // namespace graphline
