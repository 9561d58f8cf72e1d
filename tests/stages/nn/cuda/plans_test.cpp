#include <gtest/gtest.h>

#include "stages/nn/cuda/cudnn_handle.hpp"
#include "stages/nn/cuda/plan_choices.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline::nn {
namespace {

/// Plans of which only some build, and which never run.
class made_up_plans final : public plan_choices {
 public:
  explicit made_up_plans(std::vector<bool> can_build) : can_build_(std::move(can_build)) {}

  std::size_t size() const noexcept override { return can_build_.size(); }
  std::string identity(std::size_t plan) const override { return "plan" + std::to_string(plan); }
  std::string describe(std::size_t plan) const override { return "plan " + std::to_string(plan); }
  bool uses_tensor_cores(std::size_t /*plan*/) const override { return true; }
  bool build(std::size_t plan, std::string& why_not) override {
    built.push_back(plan);
    if (!can_build_[plan]) why_not = "no reason but one";
    return can_build_[plan];
  }
  std::size_t workspace_bytes(std::size_t plan) const override { return plan << 20; }
  void keep_only(std::size_t plan) override { kept = plan; }
  void run(std::size_t, cudaStream_t, std::span<void* const>, void*) override {
    FAIL() << "a plan was run";
  }

  std::vector<std::size_t> built;
  std::optional<std::size_t> kept;

 private:
  std::vector<bool> can_build_;
};

TEST(choosing_a_plan, reports_why_the_preferred_plan_fails_if_none_builds) {
  made_up_plans plans({false, false});
  std::string why_not = "left over";
  EXPECT_FALSE(choose_plan(plans, {}, why_not));
  EXPECT_EQ(why_not, "plan 0: no reason but one");
}

TEST(choosing_a_plan, takes_the_one_that_was_the_fastest_before) {
  const temporary_folder folder;
  tuning_cache cache(folder.path());
  cache.store("key", {"plan2", 1500});
  made_up_plans plans({true, true, true});
  std::string why_not;
  const auto chosen =
      choose_plan(plans, {&cache, "key", {}, dtype::float32, "stage 'head'"}, why_not);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->plan, 2U);
  EXPECT_EQ(chosen->time, 1500);
  EXPECT_EQ(plans.built, (std::vector<std::size_t>{2}));
  EXPECT_EQ(plans.kept, 2U);
}

TEST(a_planned_operation, says_what_was_chosen) {
  auto plans = std::make_unique<made_up_plans>(std::vector<bool>{true, true, true});
  const auto operation = make_library_operation(std::move(plans), {2, 1'500'000});
  EXPECT_EQ(operation->choice(), "plan 2, 2.00 MiB workspace, 1.50 ms when tuned");
  EXPECT_EQ(operation->workspace_bytes(), std::size_t{2} << 20);
  auto others = std::make_unique<made_up_plans>(std::vector<bool>{true});
  EXPECT_EQ(make_library_operation(std::move(others), {})->choice(), "plan 0");
}

TEST(cudnn_reason, is_the_first_of_a_log_or_the_message) {
  EXPECT_EQ(reason_in("No engine for it {\"engineId\":9} \n"
                      "Warning: CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: too wide\n"
                      "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: the check before\n"),
            "too wide");
  EXPECT_EQ(reason_in("The strides\nare odd."), "The strides are odd.");
  EXPECT_EQ(reason_in(""), "no reason given");
  EXPECT_EQ(reason_in(std::string(1000, 'x')).size(), 403U);
}

}  // namespace
}  // namespace graphline::nn
