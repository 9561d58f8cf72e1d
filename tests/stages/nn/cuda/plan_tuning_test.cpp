// Timing of plans on the fake CUDA runtime.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "stages/nn/cuda/plan_choices.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"

namespace graphline::nn {
namespace {

using std::chrono::milliseconds;

struct timed_plan {
  milliseconds takes{0};
  milliseconds to_build{0};
  std::size_t workspace = 0;
  bool fails = false;
};

/// Plans that take a known time to build and to run.
class timed_plans final : public plan_choices {
 public:
  explicit timed_plans(std::vector<timed_plan> plans) : plans_(std::move(plans)), runs(size()) {}

  std::size_t size() const noexcept override { return plans_.size(); }
  std::string identity(std::size_t plan) const override { return "plan" + std::to_string(plan); }
  std::string describe(std::size_t plan) const override { return identity(plan); }
  bool uses_tensor_cores(std::size_t /*plan*/) const override { return false; }
  bool build(std::size_t plan, std::string& /*why_not*/) override {
    std::this_thread::sleep_for(plans_[plan].to_build);
    ++built;
    return true;
  }
  std::size_t workspace_bytes(std::size_t plan) const override { return plans_[plan].workspace; }
  void keep_only(std::size_t /*plan*/) override {}
  void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
           void* workspace) override {
    ++runs[plan];
    if (plans_[plan].fails) throw run_error("no engine");
    EXPECT_EQ(operands.size(), 2U);
    EXPECT_TRUE(workspace != nullptr || plans_[plan].workspace == 0);
    const auto takes = plans_[plan].takes;
    ASSERT_EQ(fake_cuda::launch_kernel(stream, "plan",
                                       [takes] {
                                         std::this_thread::sleep_for(takes);
                                         return cudaSuccess;
                                       }),
              cudaSuccess);
  }

 private:
  std::vector<timed_plan> plans_;

 public:
  std::vector<std::size_t> runs;
  std::size_t built = 0;
};

class trying_plans_out : public testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::reset();
    fake_cuda::set_device_capacity(std::size_t{64} << 20);
    device_ = open_cuda_device(0);
    use_cuda_device(*device_);
  }
  void TearDown() override {
    device_.reset();
    fake_cuda::reset();
  }

  std::optional<chosen_plan> choose(timed_plans& plans, nanoseconds patience = 60'000'000'000) {
    const std::size_t operands[] = {1024, 4096};
    return choose_plan(plans, {&cache_, "key", operands, dtype::float32, "stage 'head'", patience},
                       why_not_);
  }

  std::optional<chosen_plan> choose_first(timed_plans& plans) {
    const std::size_t operands[] = {1024, 4096};
    return choose_plan(plans, {nullptr, "key", operands, dtype::float32, "stage 'head'"}, why_not_);
  }

  const temporary_folder folder_;
  tuning_cache cache_{folder_.path()};
  std::unique_ptr<device> device_;
  std::string why_not_;
};

TEST_F(trying_plans_out, takes_the_fastest_and_remembers_it) {
  timed_plans plans({{milliseconds(12)}, {milliseconds(1)}, {milliseconds(6)}});
  const auto chosen = choose(plans);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->plan, 1U);
  EXPECT_GE(chosen->time, 1'000'000);
  const auto remembered = cache_.find("key");
  ASSERT_TRUE(remembered);
  EXPECT_EQ(remembered->identity, "plan1");
  EXPECT_TRUE(remembered->complete);
}

TEST_F(trying_plans_out,
       takes_the_fastest_of_those_there_was_time_for_and_remembers_that_some_were_left) {
  timed_plans plans({{milliseconds(12)},
                     {milliseconds(1)},
                     {milliseconds(0), milliseconds(2200)},
                     {milliseconds(0)}});
  const auto chosen = choose(plans, 2'000'000'000);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(plans.built, 3U);
  EXPECT_EQ(chosen->plan, 2U);
  const auto remembered = cache_.find("key");
  ASSERT_TRUE(remembered);
  EXPECT_EQ(remembered->identity, "plan2");
  EXPECT_FALSE(remembered->complete);
  timed_plans again({{milliseconds(0)}, {milliseconds(0)}, {milliseconds(9)}, {milliseconds(0)}});
  EXPECT_EQ(choose(again)->plan, 2U) << "another process would compute with another plan";
}

TEST_F(trying_plans_out, runs_a_plan_of_twice_the_time_of_the_fastest_only_twice) {
  timed_plans plans({{milliseconds(50)}, {milliseconds(4)}, {milliseconds(40)}, {milliseconds(4)}});
  EXPECT_TRUE(choose(plans));
  EXPECT_EQ(plans.runs, (std::vector<std::size_t>{12, 12, 2, 12}));
}

TEST_F(trying_plans_out, passes_over_a_plan_whose_workspace_does_not_fit) {
  timed_plans plans({{milliseconds(6), milliseconds(0), 100},
                     {milliseconds(0), milliseconds(0), std::size_t{1} << 30},
                     {milliseconds(1), milliseconds(0), std::size_t{1} << 20},
                     {milliseconds(6), milliseconds(0), 50}});
  const auto chosen = choose(plans);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->plan, 2U);
  EXPECT_EQ(plans.runs[1], 0U);
  EXPECT_EQ(plans.runs[3], 2U);
}

TEST_F(trying_plans_out, takes_the_first_that_builds_and_runs_once_without_a_cache) {
  timed_plans plans(std::vector<timed_plan>{{.fails = true}, {}, {}});
  const auto chosen = choose_first(plans);
  ASSERT_TRUE(chosen) << why_not_;
  EXPECT_EQ(chosen->plan, 1U);
  EXPECT_FALSE(chosen->time);
  EXPECT_EQ(plans.runs, (std::vector<std::size_t>{1, 1, 0}));
  EXPECT_FALSE(cache_.find("key"));
}

TEST_F(trying_plans_out, says_that_a_plan_can_be_built_but_not_run) {
  timed_plans plans(std::vector<timed_plan>{{.fails = true}});
  EXPECT_FALSE(choose_first(plans));
  EXPECT_EQ(why_not_, "plan0 can be built, but not run");
}

TEST_F(trying_plans_out, takes_the_first_untried_if_memory_for_a_trial_is_insufficient) {
  fake_cuda::set_device_capacity(1024);
  timed_plans plans(std::vector<timed_plan>{{.fails = true}});
  EXPECT_TRUE(choose_first(plans));
  EXPECT_EQ(plans.runs[0], 0U);
  fake_cuda::set_device_capacity(std::size_t{1} << 20);
  timed_plans large(std::vector<timed_plan>{{.workspace = std::size_t{1} << 30, .fails = true}});
  EXPECT_TRUE(choose_first(large));
  EXPECT_EQ(large.runs[0], 0U);
}

}  // namespace
}  // namespace graphline::nn
