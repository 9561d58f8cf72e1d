#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

TEST(boxes, are_converted_from_centers_as_by_torchvision) {
  stage_trial trial(boxes_kind(), "{format: center}", {{{40, 4}, dtype::float32}});
  EXPECT_THAT(trial.prepared().outputs, ElementsAre(tensor_type{{40, 4}, dtype::float32}));
  EXPECT_EQ(trial.prepared().cost.flops, 240);
  std::vector<float> given;
  std::vector<float> expected;
  for (int i = 0; i < 40; ++i) {
    const float x = 1.7F * static_cast<float>(i) - 20;
    const float y = 640 - 13.1F * static_cast<float>(i);
    const float width = 0.3F * static_cast<float>(i * i);
    const float height = 55.5F / static_cast<float>(i + 1);
    given.insert(given.end(), {x, y, width, height});
    // torchvision.ops.boxes, _box_cxcywh_to_xyxy
    expected.insert(expected.end(),
                    {x - 0.5F * width, y - 0.5F * height, x + 0.5F * width, y + 0.5F * height});
  }
  EXPECT_EQ(trial.input(0, given).run().output<float>(0), expected);
  EXPECT_EQ(stage_trial(boxes_kind(), "{}", {{{40, 4}, dtype::float32}})
                .input(0, given)
                .run()
                .output<float>(0),
            given);
}

TEST(boxes, return_to_where_they_were_before_letterbox) {
  for (const auto& [height, width] : {std::pair{60, 80}, {80, 33}, {7, 300}, {640, 640}}) {
    stage_trial fit(letterbox_kind(), "{size: [64, 96]}", {{{1, height, width, 1}, dtype::uint8}});
    fit.input(0, std::vector<std::uint8_t>(static_cast<std::size_t>(height * width))).run();
    // Ultralytics' LetterBox, in double; Python's round is nearbyint.
    const double gain = std::min(64.0 / height, 96.0 / width);
    const double top = std::nearbyint((64 - std::nearbyint(height * gain)) / 2 - 0.1);
    const double left = std::nearbyint((96 - std::nearbyint(width * gain)) / 2 - 0.1);
    const std::vector<float> original = {0.5F, 1.25F, 0.75F * static_cast<float>(width), 6};
    std::vector<float> fitted;
    for (const std::size_t i : {0U, 1U, 2U, 3U}) {
      fitted.push_back(static_cast<float>(original[i] * gain + (i % 2 == 0 ? left : top)));
    }
    stage_trial back(boxes_kind(), "{}", {{{1, 1, 4}, dtype::float32}, fit.prepared().outputs[1]});
    back.input(0, fitted).input(1, fit.output<float>(1)).run();
    EXPECT_THAT(back.output<float>(0), Pointwise(FloatNear(1e-3F), original))
        << height << " x " << width;
  }
}

TEST(boxes, are_clipped_to_the_picture_of_their_entry) {
  stage_trial trial(
      boxes_kind(), "{format: center}",
      {{{3, 2, 4}, dtype::float32}, {{3, 3}, dtype::float32}, {{3, 2}, dtype::int64}});
  trial.input<float>(0, {10, 10, 4, 4, 2,  2,  8,   90,   // scale 2, left 4, top 6
                         10, 10, 4, 4, 30, 30, 100, 90,   // scale 0.5
                         10, 10, 4, 4, 0,  0,  0,   0});  // no picture
  trial.input<float>(1, {2, 4, 6, 0.5F, 0, 2, 0, 0, 0});
  trial.input<std::int64_t>(2, {9, 20, 50, 70, 0, 0}).run();
  EXPECT_THAT(trial.output<float>(0), ElementsAre(2, 1, 4, 3, 0, 0, 1, 9,        //
                                                  16, 12, 24, 20, 0, 0, 70, 50,  //
                                                  0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(boxes, without_a_batch_belong_to_one_picture) {
  stage_trial trial(boxes_kind(), "{relative_to: [10, 20]}",
                    {{{2, 4}, dtype::float32}, {{1, 3}, dtype::float32}, {{1, 2}, dtype::int64}});
  trial.input<float>(0, {0.25F, 0.5F, 0.5F, 1, 0, 0, 1, 1});
  trial.input<float>(1, {0.5F, 1, 2}).input<std::int64_t>(2, {12, 36}).run();
  EXPECT_THAT(trial.output<float>(0), ElementsAre(8, 6, 18, 12, 0, 0, 36, 12));
  EXPECT_EQ(trial.prepared().cost.flops, 2 * (4 + 8));
}

TEST(boxes, that_are_no_numbers_stay_so) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  stage_trial trial(boxes_kind(), "{}",
                    {{{1, 4}, dtype::float32}, {{1, 3}, dtype::float32}, {{1, 2}, dtype::int64}});
  trial.input<float>(0, {nan, -INFINITY, INFINITY, nan}).input<float>(1, {1, 0, 0});
  const auto corners = trial.input<std::int64_t>(2, {5, 6}).run().output<float>(0);
  EXPECT_TRUE(std::isnan(corners[0]) && std::isnan(corners[3]));
  EXPECT_EQ(corners[1], 0);
  EXPECT_EQ(corners[2], 6);
}

TEST(boxes, refuse_tensors_of_other_shapes) {
  const auto complaints = [](std::vector<tensor_type> inputs, const char* given = "{}") {
    return stage_trial(boxes_kind(), given, std::move(inputs)).complaints();
  };
  const tensor_type boxes{{2, 5, 4}, dtype::float32};
  EXPECT_THAT(complaints({{{5, 5}, dtype::float32}}),
              ElementsAre(HasSubstr("cpu.boxes reads boxes float32 [N, 4]")));
  EXPECT_THAT(complaints({{{5, 4}, dtype::int64}}), ElementsAre(HasSubstr("found int64 [5, 4]")));
  EXPECT_THAT(complaints({boxes, {{1, 3}, dtype::float32}}),
              ElementsAre(HasSubstr("found float32 [2, 5, 4], float32 [1, 3]")));
  EXPECT_THAT(complaints({boxes, {{2, 3}, dtype::float32}, {{2, 3}, dtype::int64}}),
              ElementsAre(HasSubstr("[2, 3], int64 [2, 3]")));
  EXPECT_THAT(complaints({boxes}, "{relative_to: 640}"),
              ElementsAre("'relative_to' must hold 2 numbers (height and width), found 1"));
}

}  // namespace
}  // namespace graphline
