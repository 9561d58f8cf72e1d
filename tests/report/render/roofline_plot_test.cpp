#include "framework/report/render/roofline_plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/report/describe/describe.hpp"
#include "tests/report/documents.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline::report {
namespace {

using samples::two_models_roofline;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string plot_of(const roofline_record& record, const terminal_style& as = {}) {
  const auto says = describe(record);
  return roofline_plot(std::get<roofline_chart>(samples::part_of<chart>(says, "roofline").drawn),
                       as);
}

TEST(roofline_plot, names_what_has_no_place_in_it) {
  auto record = two_models_roofline(5);
  record.stages.stages[2].cost.flops.reset();
  EXPECT_THAT(plot_of(record),
              AllOf(HasSubstr("not in the plot, without FLOPs or without a time: head"),
                    Not(HasSubstr("B head"))));
}

TEST(roofline_plot, is_not_there_when_nothing_could_be_drawn) {
  auto record = two_models_roofline(5);
  for (auto* run : {&record.stages, &record.layers}) {
    for (auto& stage : run->stages) {
      stage.device.clear();
      for (auto& part : stage.parts) part.device.clear();
    }
  }
  EXPECT_EQ(plot_of(record), "");
}

TEST(roofline_plot, has_letters_for_the_26_parts_that_take_longest) {
  auto record = two_models_roofline(5);
  for (auto* run : {&record.stages, &record.layers}) {
    auto& parts = run->stages[0].parts;
    while (parts.size() < 40) {
      parts.push_back(parts.front());
      parts.back().name += std::to_string(parts.size());
    }
  }
  EXPECT_THAT(plot_of(record),
              AllOf(HasSubstr("not in the plot, shorter than those with letters: 14 more\n"),
                    HasSubstr("z 0."), Not(HasSubstr("{ 0."))));
}

TEST(roofline_plot, says_which_letters_have_no_place_beside_others) {
  auto record = two_models_roofline(5);
  EXPECT_THAT(plot_of(record), Not(HasSubstr("behind others")));
  auto& stages = record.stages.stages;
  while (stages.size() < 10) {
    stages.push_back(stages[2]);
    stages.back().name += std::to_string(stages.size());
  }
  EXPECT_THAT(plot_of(record), HasSubstr("behind others in the plot: I"));
}

TEST(roofline_plot, draws_the_ceilings_of_precisions_that_are_used) {
  auto record = two_models_roofline(5);
  auto& ceilings = record.stages.calibration->ceilings;
  ceilings.push_back({ceiling::matmul, precision::float16, 900e9, 800e9, 950e9});
  EXPECT_THAT(plot_of(record), Not(HasSubstr("float16")));
  record.stages.stages[2].cost.arithmetic = precision::float16;
  EXPECT_THAT(plot_of(record), HasSubstr("float16 900 GFLOP/s"));
}

}  // namespace
}  // namespace graphline::report
