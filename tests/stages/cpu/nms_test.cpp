#include <gmock/gmock.h>

#include <limits>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;

std::vector<tensor_type> inputs_of(std::int64_t boxes) {
  return {{{boxes, 4}, dtype::float32}, {{boxes}, dtype::float32}};
}

/// Three boxes: the second covers half of what it and the first cover (IoU 1/2), the third is far.
const std::vector<float> three_boxes = {0, 0, 4, 1, 0, 0, 2, 1, 10, 10, 11, 11};

stage_trial three(const std::string& parameters) {
  stage_trial trial(nms_kind(), parameters, inputs_of(3));
  trial.input(0, three_boxes).input<float>(1, {0.9F, 0.8F, 0.7F}).run();
  return trial;
}

class nms_reference : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(nms_reference, agrees_with_the_rule_of_torchvision) {
  const auto& [threshold, name] = GetParam();
  std::vector<std::int64_t> expected = reference<std::int64_t>(name);
  const auto count = static_cast<std::int64_t>(expected.size());
  expected.resize(150, -1);

  stage_trial trial(nms_kind(), std::string("{max_outputs: 150, iou_threshold: ") + threshold + "}",
                    inputs_of(150));
  trial.input(0, reference<float>("nms_boxes")).input(1, reference<float>("nms_scores")).run();
  EXPECT_EQ(trial.output<std::int64_t>(0), expected);
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(count));
}

INSTANTIATE_TEST_SUITE_P(thresholds, nms_reference,
                         testing::Values(std::pair("0.5", "nms_kept_50"),
                                         std::pair("0.2", "nms_kept_20")),
                         [](const auto& tested) { return std::string(tested.param.second); });

TEST(nms, keeps_a_box_whose_overlap_equals_the_threshold) {
  EXPECT_THAT(three("{max_outputs: 3}").output<std::int64_t>(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(three("{max_outputs: 3, iou_threshold: 0.49}").output<std::int64_t>(0),
              ElementsAre(0, 2, -1));
}

TEST(nms, stops_at_max_outputs_and_pads_what_is_left) {
  const stage_trial few = three("{max_outputs: 2}");
  EXPECT_THAT(few.output<std::int64_t>(0), ElementsAre(0, 1));
  EXPECT_THAT(few.output<std::int64_t>(1), ElementsAre(2));
  const stage_trial many = three("{max_outputs: 5}");
  EXPECT_THAT(many.output<std::int64_t>(0), ElementsAre(0, 1, 2, -1, -1));
  EXPECT_THAT(many.output<std::int64_t>(1), ElementsAre(3));
}

TEST(nms, leaves_out_what_does_not_score_above_the_threshold) {
  const stage_trial trial = three("{max_outputs: 3, score_threshold: 0.7}");
  EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(0, 1, -1));
  const stage_trial none = three("{max_outputs: 3, score_threshold: 2}");
  EXPECT_THAT(none.output<std::int64_t>(0), ElementsAre(-1, -1, -1));
  EXPECT_THAT(none.output<std::int64_t>(1), ElementsAre(0));
}

TEST(nms, takes_the_lower_index_first_among_equal_scores) {
  stage_trial trial(nms_kind(), "{max_outputs: 2}", inputs_of(2));
  trial.input<float>(0, {0, 0, 1, 1, 0, 0, 1, 1}).input<float>(1, {0.5F, 0.5F}).run();
  EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(0, -1));
}

TEST(nms, keeps_every_empty_box_since_empty_boxes_overlap_nothing) {
  stage_trial trial(nms_kind(), "{max_outputs: 2}", inputs_of(2));
  trial.input<float>(0, {1, 1, 1, 1, 1, 1, 1, 1}).input<float>(1, {0.5F, 0.6F}).run();
  EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(1, 0));
}

TEST(nms, starts_afresh_on_the_next_frame) {
  stage_trial trial = three("{max_outputs: 3, iou_threshold: 0.4}");
  trial.input<float>(1, {0.1F, 0.2F, 0.3F}).run(1);
  EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(2, 1, -1));
}

TEST(nms, refuses_shapes_that_do_not_belong_together) {
  const std::vector<std::vector<tensor_type>> wrong = {
      {{{5, 3}, dtype::float32}, {{5}, dtype::float32}},
      {{{5, 4}, dtype::float32}, {{6}, dtype::float32}},
      {{{4}, dtype::float32}, {{4}, dtype::float32}},
      {{{5, 4}, dtype::float32}, {{5, 1}, dtype::float32}},
      {{{5, 4}, dtype::float64}, {{5}, dtype::float32}},
  };
  for (const auto& inputs : wrong) {
    EXPECT_THAT(stage_trial(nms_kind(), "{max_outputs: 1}", inputs).complaints(),
                ElementsAre("cpu.nms reads boxes float32 [N, 4] and scores float32 [N], found " +
                            to_string(inputs[0]) + " and " + to_string(inputs[1])));
  }
}

}  // namespace
}  // namespace graphline
