#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "stages/cuda/cudnn_handle.hpp"
#include "stages/cuda/plan_choices.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

/// Plans of which only some can be built, and that are never run.
class made_up_plans final : public plan_choices {
 public:
  explicit made_up_plans(std::vector<bool> can_build) : can_build_(std::move(can_build)) {}

  std::size_t size() const noexcept override { return can_build_.size(); }
  std::string identity(std::size_t plan) const override { return "plan" + std::to_string(plan); }
  std::string describe(std::size_t plan) const override { return "plan " + std::to_string(plan); }
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

tuning how_to_tune(tuning_cache& cache) {
  return {cache, "key", {}, precision::float32, "stage 'head'"};
}

TEST(choosing_a_plan, takes_the_first_that_can_be_built) {
  made_up_plans plans({false, true, true});
  std::string why_not;
  const auto chosen = choose_plan(plans, nullptr, why_not);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->plan, 1U);
  EXPECT_FALSE(chosen->time);
  EXPECT_EQ(plans.built, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(plans.kept, 1U);
}

TEST(choosing_a_plan, tells_why_the_best_cannot_be_had_when_none_can) {
  made_up_plans plans({false, false});
  std::string why_not = "left over";
  EXPECT_FALSE(choose_plan(plans, nullptr, why_not));
  EXPECT_EQ(why_not, "plan 0: no reason but one");
}

TEST(choosing_a_plan, takes_the_one_that_was_the_fastest_before) {
  const temporary_folder folder;
  tuning_cache cache(folder.path());
  cache.store("key", {"plan2", 1500});
  made_up_plans plans({true, true, true});
  const tuning how = how_to_tune(cache);
  std::string why_not;
  const auto chosen = choose_plan(plans, &how, why_not);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->plan, 2U);
  EXPECT_EQ(chosen->time, 1500);
  EXPECT_EQ(plans.built, (std::vector<std::size_t>{2}));
  EXPECT_EQ(plans.kept, 2U);
}

TEST(choosing_a_plan, forgets_one_that_is_not_offered_or_cannot_be_built_any_more) {
  for (const std::string known : {"plan1", "plan7"}) {
    const temporary_folder folder;
    tuning_cache cache(folder.path());
    cache.store("key", {known, 1500});
    made_up_plans plans({false, false});
    const tuning how = how_to_tune(cache);
    std::string why_not;
    EXPECT_FALSE(choose_plan(plans, &how, why_not));
    EXPECT_FALSE(cache.find("key")) << known;
  }
}

TEST(a_planned_operation, says_what_was_chosen) {
  auto plans = std::make_unique<made_up_plans>(std::vector<bool>{true, true, true});
  const auto operation = make_library_operation(std::move(plans), {2, 1'500'000}, "stage 'a'");
  EXPECT_EQ(operation->choice(), "plan 2, 2.00 MiB workspace, 1.50 ms when tuned");
  EXPECT_EQ(operation->workspace_bytes(), std::size_t{2} << 20);
  auto others = std::make_unique<made_up_plans>(std::vector<bool>{true});
  EXPECT_EQ(make_library_operation(std::move(others), {}, "stage 'a'")->choice(), "plan 0");
}

TEST(cudnn_reason, is_the_first_of_each_engine) {
  EXPECT_EQ(reason_in("No engine for it {\"engineId\":9,\"smVersion\":900} \n"
                      "Warning: CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: too wide\n"
                      "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: the check before\n"
                      "{\"engineId\":2}\nWarning: CUDNN_STATUS_NOT_SUPPORTED; Reason: too old\n"),
            "engine 9: too wide; engine 2: too old");
}

TEST(cudnn_reason, is_the_message_where_no_engine_is_named) {
  EXPECT_EQ(reason_in("The strides\nare odd.\n"), "The strides are odd.");
  EXPECT_EQ(reason_in(""), "no reason given");
  EXPECT_EQ(reason_in(std::string(1000, 'x')).size(), 403U);
}

TEST(cudnn_reason, is_about_support_unless_the_last_status_is_another) {
  EXPECT_TRUE(is_about_support("it failed, and code: CUDNN_STATUS_NOT_SUPPORTED"));
  EXPECT_TRUE(is_about_support("The strides are odd."));
  EXPECT_TRUE(is_about_support(
      "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: (CUDNN_STATUS_NOT_INITIALIZED == status)\n"));
  EXPECT_TRUE(is_about_support(
      "Reason: CUDNN_STATUS_ALLOC_FAILED == status\n cudnn_status: CUDNN_STATUS_NOT_SUPPORTED"));
  EXPECT_FALSE(is_about_support("cudnn_status: CUDNN_STATUS_ALLOC_FAILED"));
  EXPECT_FALSE(
      is_about_support("log\n, and code: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"));
  EXPECT_FALSE(is_about_support("cudnn_status: CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER"));
}

/// The number that an element holds.
double number_at(const std::vector<std::byte>& elements, std::size_t at, precision p) {
  if (element_bytes(p) == 4) {
    float value = 0;
    std::memcpy(&value, elements.data() + at * 4, 4);
    return double{value};
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, elements.data() + at * 2, 2);
  if (p == precision::bfloat16) return double{std::bit_cast<float>(std::uint32_t{bits} << 16)};
  const double magnitude = std::ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(random_elements, are_finite_and_of_either_sign) {
  for (const precision p :
       {precision::float32, precision::tf32, precision::float16, precision::bfloat16}) {
    const std::size_t count = 1000;
    const std::vector<std::byte> elements = random_elements(p, count * element_bytes(p));
    ASSERT_EQ(elements.size(), count * element_bytes(p));
    std::size_t negative = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double number = number_at(elements, i, p);
      EXPECT_GE(std::abs(number), 0x1p-8);
      EXPECT_LT(std::abs(number), 1);
      negative += number < 0 ? 1 : 0;
    }
    EXPECT_GT(negative, count / 3);
    EXPECT_LT(negative, count * 2 / 3);
  }
}

}  // namespace
}  // namespace graphline
