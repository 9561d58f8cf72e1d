#include "framework/campaign/experiment/trial_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/campaign/experiment/experiment.hpp"
#include "framework/device/host/host_device.hpp"
#include "tests/run/together_testing.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

class local_trials : public testing::Test {
 protected:
  /// Adds a `device_mix` that counts preparations and may fail them.
  void SetUp() override {
    registry_ = make_registry([this](const std::string& stage, std::int64_t frame) {
      if (on_frame_) on_frame_(stage, frame);
    });
    stage_kind kind = *registry_.find("device_mix");
    kind.name = "counted";
    kind.prepare = [this, prepare = kind.prepare](const arguments& given,
                                                  std::span<const tensor_type> inputs,
                                                  diagnostics& out) {
      prepared_stage stage = prepare(given, inputs, out);
      stage.make_device["host"] = [this, make = stage.make_device.at("host")](
                                      device& d, const stage_config& c) {
        ++prepared_[c.name];
        if (on_prepare_) on_prepare_(c.name);
        return make(d, c);
      };
      return stage;
    };
    registry_.add(std::move(kind));
  }

  pipeline_spec named(const std::string& name, std::int64_t salt = 1) {
    auto spec = small_pipeline(name, strategy::async, graph_mode::stage, salt);
    spec.stages[1].kind = {"counted"};
    return spec;
  }

  void add(const std::string& name, const std::vector<pipeline_spec>& members) {
    planned_.configurations.push_back(configuration(name, members, registry_));
  }

  std::unique_ptr<trial_runner> runner(std::uint64_t budget) {
    return make_trial_runner(
        planned_, [this](const plan&) -> device& { return *device_; }, budget);
  }

  std::unique_ptr<device> device_ = open_host_device(1);
  stage_registry registry_;
  std::map<std::string, int> prepared_;
  std::function<void(const std::string& stage)> on_prepare_;
  std::function<void(const std::string& stage, std::int64_t frame)> on_frame_;
  experiment_plan planned_;
};

TEST_F(local_trials, prepare_each_pipeline_once_when_all_fit) {
  for (const auto* name : {"a", "b", "c"}) add(name, {named(name)});
  const auto r = runner(unlimited);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t c = 0; c < 3; ++c) {
      const auto records = r->run(c, {}, nullptr);
      ASSERT_THAT(records, SizeIs(1));
      EXPECT_FALSE(records[0].failure);
      EXPECT_EQ(records[0].pipeline, planned_.configurations[c].what.name);
      EXPECT_THAT(records[0].frames, SizeIs(30));
    }
  }
  EXPECT_EQ(prepared_, (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}}));
}

TEST_F(local_trials, compute_the_same_with_room_for_one_pipeline_as_with_room_for_all) {
  for (const auto* name : {"a", "b", "c"}) add(name, {named(name, name[0])});
  planned_.how.trials = 4;
  const auto all = run_experiment(planned_, *runner(unlimited), {});
  prepared_.clear();
  const auto one_by_one = run_experiment(planned_, *runner(0), {});
  ASSERT_THAT(one_by_one.trials, SizeIs(12));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(one_by_one.trials[i].configuration, all.trials[i].configuration);
    EXPECT_EQ(checksums(one_by_one.trials[i].members[0]), checksums(all.trials[i].members[0]));
  }
  EXPECT_GT(prepared_["a"] + prepared_["b"] + prepared_["c"], 3);
}

TEST_F(local_trials, give_up_what_else_was_prepared_to_stay_within_the_budget) {
  for (const auto* name : {"a", "b", "c"}) add(name, {named(name)});
  std::uint64_t one = 0;
  {
    const auto measuring = runner(unlimited);
    measuring->run(0, {}, nullptr);
    one = device_->usage().device_bytes;
  }
  ASSERT_EQ(device_->usage().device_bytes, 0U);
  prepared_.clear();
  const auto r = runner(2 * one);
  for (const std::size_t c : {0, 1, 0, 2, 0, 1}) {
    r->run(c, {}, nullptr);
    EXPECT_LE(device_->usage().device_bytes, 2 * one);
  }
  EXPECT_EQ(prepared_, (std::map<std::string, int>{{"a", 2}, {"b", 2}, {"c", 1}}));
}

TEST_F(local_trials, keep_all_members_of_a_configuration_however_small_the_budget) {
  add("together", {named("camera"), named("batch")});
  const auto r = runner(0);
  // The camera is in the foreground. Its last frame waits until the batch job has begun its second
  // measured frame, and so completed the first; otherwise the camera could end before the batch job
  // runs. Measured frames begin when both are warm, after the camera's first one.
  constexpr std::int64_t warmup = 2;
  constexpr std::int64_t last = warmup + 30 - 1;
  tally begun;
  std::int64_t before = 0;
  on_frame_ = [&](const std::string& stage, std::int64_t frame) {
    if (stage == "batch in" && frame >= warmup) begun.add("batch");
    if (stage == "camera in" && frame == 0) before = begun.of("batch");
    if (stage == "camera in" && frame == last) {
      EXPECT_TRUE(begun.wait_for("batch", before + 2));
    }
  };
  for (int round = 0; round < 2; ++round) {
    const auto records = r->run(0, {}, nullptr);
    ASSERT_THAT(records, SizeIs(2));
    EXPECT_EQ(records[0].pipeline, "camera");
    EXPECT_THAT(records[0].frames, SizeIs(30));
    EXPECT_FALSE(records[1].frames.empty());
  }
  EXPECT_EQ(prepared_, (std::map<std::string, int>{{"batch", 1}, {"camera", 1}}));
}

TEST_F(local_trials, make_room_when_a_pipeline_cannot_be_prepared_beside_the_others) {
  for (const auto* name : {"a", "b"}) add(name, {named(name)});
  const auto r = runner(unlimited);
  r->run(0, {}, nullptr);
  on_prepare_ = [this](const std::string& stage) {
    if (stage == "b" && device_->usage().device_bytes > 0) throw run_error("no room");
  };
  EXPECT_FALSE(r->run(1, {}, nullptr).at(0).failure);
  on_prepare_ = nullptr;
  r->run(0, {}, nullptr);
  EXPECT_EQ(prepared_["a"], 2);
}

TEST_F(local_trials, name_the_configuration_that_cannot_be_prepared) {
  add("batch=8", {named("a")});
  on_prepare_ = [](const std::string&) { throw run_error("no room"); };
  try {
    runner(unlimited)->run(0, {}, nullptr);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const run_error& e) {
    EXPECT_STREQ(e.what(), "configuration 'batch=8': stage 'a' (counted): preparing: no room");
  }
}

TEST_F(local_trials, end_with_those_whose_frames_come_on_a_schedule) {
  auto camera = named("camera");
  camera.run.arrival = arrival::constant;
  camera.run.rate = 2000;
  add("together", {named("batch"), camera});
  const auto records = runner(unlimited)->run(0, {}, nullptr);
  EXPECT_THAT(records[1].frames, SizeIs(30));
  EXPECT_FALSE(records[1].interrupted);
  EXPECT_FALSE(records[0].interrupted);
  EXPECT_EQ(records[0].run.frames, static_cast<std::int64_t>(records[0].frames.size()));
}

/// Returns a pipeline with a constant rate, in frame/s.
pipeline_spec at_rate(pipeline_spec spec, double rate) {
  spec.run.arrival = arrival::constant;
  spec.run.rate = rate;
  return spec;
}

TEST_F(local_trials, cover_the_frames_due_in_the_horizon_whatever_the_rates) {
  planned_.how.horizon = 290'000'000;
  add("together", {named("batch"), at_rate(named("fast"), 10), at_rate(named("slow"), 5)});
  add("fast alone", {at_rate(named("fast"), 10)});
  add("batch alone", {named("batch")});
  const auto r = runner(unlimited);
  const auto together = r->run(0, {}, nullptr);
  const auto fast = r->run(1, {}, nullptr);
  const auto batch = r->run(2, {}, nullptr);
  // Due at 0, 100 and 200 ms and at 0 and 200 ms: long before the end, because a load
  // begins somewhat later than the horizon.
  EXPECT_EQ(frames_due(together[1]), 3U);
  EXPECT_EQ(frames_due(together[2]), 2U);
  EXPECT_EQ(frames_due(fast[0]), 3U);
  for (const auto* record : {&together[0], &together[1], &together[2], &fast[0], &batch[0]}) {
    EXPECT_FALSE(record->failure) << *record->failure;
    EXPECT_FALSE(record->interrupted);
    ASSERT_FALSE(record->frames.empty());
    EXPECT_LT(record->frames.back().begin - record->frames.front().begin, 290'000'000);
    EXPECT_EQ(record->run.frames, static_cast<std::int64_t>(frames_due(*record)));
  }
}

TEST_F(local_trials, try_a_few_frames_without_waiting_for_the_horizon) {
  planned_.how.horizon = 3'600'000'000'000;
  add("together", {named("batch"), at_rate(named("camera"), 400)});
  add("batch alone", {named("batch")});
  const auto r = runner(unlimited);
  EXPECT_THAT(r->run(0, {.frames = 2}, nullptr)[1].frames, SizeIs(2));
  EXPECT_THAT(r->run(1, {.frames = 2}, nullptr)[0].frames, SizeIs(2));
}

TEST_F(local_trials, report_frames_that_are_not_complete_at_the_horizon) {
  planned_.how.horizon = 200'000'000;
  add("overloaded", {named("batch"), at_rate(named("camera"), 250'000)});
  const auto records = runner(unlimited)->run(0, {}, nullptr);
  EXPECT_LE(frames_due(records[1]), 50'000U);
  EXPECT_GT(records[1].load.unfinished.size(), 500U);
  EXPECT_THAT(records[1].warnings,
              testing::Contains(HasSubstr("due within the horizon were not complete")));
  EXPECT_THAT(records[0].warnings, testing::Each(testing::Not(HasSubstr("horizon"))));
}

TEST_F(local_trials, fail_if_no_frame_is_complete_at_the_horizon) {
  planned_.how.horizon = 200'000'000;
  auto late = at_rate(named("late"), 100);
  late.run.phase = 1'000'000'000;
  add("together", {named("batch"), late});
  const auto records = runner(unlimited)->run(0, {}, nullptr);
  EXPECT_FALSE(records[0].failure);
  EXPECT_EQ(records[1].failure, "the horizon passed before a frame completed");
}

TEST_F(local_trials, draw_random_arrivals_by_number_and_member_and_alike_in_each_configuration) {
  auto camera = named("camera");
  camera.run.arrival = arrival::poisson;
  camera.run.rate = 1e5;
  add("left alone", {camera});
  planned_.configurations.back().what.members = {"left"};
  add("together", {camera, camera});
  planned_.configurations.back().what.members = {"left", "right"};
  const auto r = runner(unlimited);
  const auto arrivals = [&](std::size_t configuration, std::uint64_t number) {
    std::vector<std::vector<nanoseconds>> gaps;
    for (const auto& record : r->run(configuration, {.number = number}, nullptr)) {
      auto& of_member = gaps.emplace_back();
      for (const auto& f : record.frames) of_member.push_back(f.due - record.frames[0].due);
    }
    return gaps;
  };
  const auto alone = arrivals(0, 0);
  EXPECT_THAT(alone.at(0), SizeIs(30));
  EXPECT_EQ(arrivals(0, 0), alone);
  EXPECT_NE(arrivals(0, 1), alone);
  const auto together = arrivals(1, 0);
  EXPECT_EQ(together.at(0), alone.at(0));
  EXPECT_NE(together.at(1), alone.at(0));
}

TEST_F(local_trials, end_an_experiment_where_one_of_several_fails) {
  add("together", {named("camera"), named("batch")});
  planned_.how.trials = 5;
  int camera_runs = 0;
  on_frame_ = [&](const std::string& stage, std::int64_t frame) {
    if (stage == "camera in" && frame == 0) ++camera_runs;
    if (stage == "camera in" && frame == 7 && camera_runs > 4) throw std::runtime_error("dark");
  };
  const auto record = run_experiment(planned_, *runner(unlimited), {});
  EXPECT_THAT(record.stopped,
              HasSubstr("a trial of configuration 'together', 'camera' failed: stage 'camera in'"));
  ASSERT_FALSE(record.trials.empty());
  ASSERT_THAT(record.trials.back().members, SizeIs(2));
  EXPECT_TRUE(record.trials.back().members[0].failure);
  EXPECT_FALSE(record.trials.back().members[1].failure);
}

}  // namespace
}  // namespace graphline
