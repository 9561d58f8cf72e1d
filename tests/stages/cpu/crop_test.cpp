#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t picture_rows = 6;
constexpr std::int64_t picture_columns = 8;

/// The crops of one picture with the values 0 to 47, row by row.
std::vector<std::uint8_t> crops(const std::string& parameters, const std::vector<float>& boxes,
                                std::int64_t count, const std::vector<float>& turned = {}) {
  const auto most = static_cast<std::int64_t>(boxes.size() / 8);
  std::vector<tensor_type> inputs = {{{1, picture_rows, picture_columns, 1}, dtype::uint8},
                                     {{1, most, 4, 2}, dtype::float32},
                                     {{1}, dtype::int64}};
  if (!turned.empty()) inputs.push_back({{most, 2}, dtype::float32});
  stage_trial trial(crop_kind(), parameters, inputs);
  std::vector<std::uint8_t> picture(picture_rows * picture_columns);
  std::iota(picture.begin(), picture.end(), std::uint8_t{0});
  trial.input(0, picture).input(1, boxes).input<std::int64_t>(2, {count});
  if (!turned.empty()) trial.input(3, turned);
  return trial.run().output<std::uint8_t>(0);
}

const std::vector<float> wide = {1, 1, 5, 1, 5, 3, 1, 3};
const std::vector<float> high = {1, 1, 3, 1, 3, 5, 1, 5};

TEST(crop, shows_a_box_of_its_size_pixel_by_pixel) {
  EXPECT_THAT(crops("{size: [2, 4]}", wide, 1), ElementsAre(9, 10, 11, 12, 17, 18, 19, 20));
}

TEST(crop, leaves_zeros_at_the_right_of_a_narrow_box_and_where_there_is_none) {
  std::vector<float> two = wide;
  two.insert(two.end(), wide.begin(), wide.end());
  EXPECT_THAT(crops("{size: [2, 5]}", two, 1),
              ElementsAre(9, 10, 11, 12, 0, 17, 18, 19, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(crop, squeezes_a_box_that_is_too_wide) {
  EXPECT_THAT(crops("{size: [2, 2]}", wide, 1), ElementsAre(10, 12, 18, 20));
}

TEST(crop, turns_what_is_upside_down_with_more_than_the_threshold) {
  EXPECT_THAT(crops("{size: [2, 4]}", wide, 1, {0.05F, 0.95F}),
              ElementsAre(20, 19, 18, 17, 12, 11, 10, 9));
  EXPECT_THAT(crops("{size: [2, 4]}", wide, 1, {0.2F, 0.8F}),
              ElementsAre(9, 10, 11, 12, 17, 18, 19, 20));
  EXPECT_THAT(crops("{size: [2, 4], turn_threshold: 0.7}", wide, 1, {0.2F, 0.8F}),
              ElementsAre(20, 19, 18, 17, 12, 11, 10, 9));
}

TEST(crop, lays_down_a_box_that_stands_upright) {
  // As numpy.rot90: the right side becomes the top.
  EXPECT_THAT(crops("{size: [2, 4]}", high, 1), ElementsAre(10, 18, 26, 34, 9, 17, 25, 33));
}

TEST(crop, takes_rectangles_in_each_format_and_leaves_high_ones_as_they_are) {
  const auto cut = [](const char* format, const std::vector<float>& box) {
    stage_trial trial(crop_kind(), std::string("{size: [4, 4], format: ") + format + "}",
                      {{{1, picture_rows, picture_columns, 1}, dtype::uint8},
                       {{1, 1, 4}, dtype::float32},
                       {{1}, dtype::int64}});
    std::vector<std::uint8_t> picture(picture_rows * picture_columns);
    std::iota(picture.begin(), picture.end(), std::uint8_t{0});
    return trial.input(0, picture)
        .input(1, box)
        .input<std::int64_t>(2, {1})
        .run()
        .output<std::uint8_t>(0);
  };
  // Two columns and four rows from (1, 1).
  const auto expected = ElementsAre(9, 10, 0, 0, 17, 18, 0, 0, 25, 26, 0, 0, 33, 34, 0, 0);
  EXPECT_THAT(cut("corners", {1, 1, 3, 5}), expected);
  EXPECT_THAT(cut("center", {2, 3, 2, 4}), expected);
  EXPECT_THAT(cut("relative_center", {2.0F / 8, 3.0F / 6, 2.0F / 8, 4.0F / 6}), expected);
}

TEST(crop, sees_a_trapezoid_in_perspective) {
  // The diagonals of (0, 0), (8, 0), (6, 4), (2, 4) meet at (4, 8/3), the middle of the crop.
  const auto crop = crops("{size: [4, 8]}", {0, 0, 8, 0, 6, 4, 2, 4}, 1);
  EXPECT_NEAR(crop.at(2 * 8 + 4), picture_columns * 8.0 / 3 + 4, 1);
}

/// OpenCV computes in another order, so that a value halfway between two integers may round to
/// either.
TEST(crop, computes_what_opencv_does) {
  const auto boxes = reference<float>("boxes");
  const auto count = static_cast<std::int64_t>(boxes.size() / 8);
  for (const bool turn : {false, true}) {
    stage_trial trial(crop_kind(), "{size: [16, 96]}",
                      {{{1, 60, 80, 3}, dtype::uint8},
                       {{1, count, 4, 2}, dtype::float32},
                       {{1}, dtype::int64},
                       {{count, 2}, dtype::float32}});
    trial.input(0, reference<std::uint8_t>("picture")).input(1, boxes);
    trial.input<std::int64_t>(2, {count});
    trial.input(3, std::vector<float>(static_cast<std::size_t>(2 * count), turn ? 1.0F : 0.0F));
    const auto given = trial.run().output<std::uint8_t>(0);
    const auto expected = reference<std::uint8_t>(turn ? "crops_turned" : "crops");
    ASSERT_EQ(given.size(), expected.size());
    std::size_t other = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      ASSERT_NEAR(given[i], expected[i], 1) << i;
      other += given[i] != expected[i] ? 1 : 0;
    }
    EXPECT_LT(other * 500, given.size());
  }
}

TEST(crop, tells_how_wide_each_is) {
  stage_trial trial(crop_kind(), "{size: [2, 5]}",
                    {{{1, picture_rows, picture_columns, 1}, dtype::uint8},
                     {{1, 3, 4, 2}, dtype::float32},
                     {{1}, dtype::int64}});
  std::vector<float> boxes = wide;
  boxes.insert(boxes.end(), high.begin(), high.end());
  boxes.insert(boxes.end(), 8, 0.0F);
  trial.input(0, std::vector<std::uint8_t>(picture_rows * picture_columns));
  trial.input(1, boxes).input<std::int64_t>(2, {2});
  EXPECT_THAT(trial.run().output<std::int64_t>(1), ElementsAre(2, 4, 2, 4, 0, 0));
}

TEST(crop, shows_the_edge_where_a_box_leaves_the_picture) {
  EXPECT_THAT(crops("{size: [2, 2]}", {-9, -9, -7, -9, -7, -7, -9, -7}, 1), Each(0));
  EXPECT_THAT(crops("{size: [2, 2]}", {90, 90, 92, 90, 92, 92, 90, 92}, 1), Each(47));
}

TEST(crop, stays_inside_the_picture_whatever_a_box_is) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(crops("{size: [2, 2]}", std::vector<float>(8, nan), 1).size(), 4U);
  EXPECT_EQ(crops("{size: [2, 2]}", {-most, 0, most, nan, most, most, 0, 0}, 1).size(), 4U);
  EXPECT_EQ(crops("{size: [2, 2]}", std::vector<float>(8, 1), 7).size(), 4U);
}

TEST(crop, refuses_what_does_not_belong_together) {
  const tensor_type pictures{{2, 8, 8, 3}, dtype::uint8};
  const tensor_type boxes{{2, 5, 4, 2}, dtype::float32};
  const tensor_type count{{2}, dtype::int64};
  const auto complaints = [&](std::vector<tensor_type> inputs, const char* size = "[2, 2]") {
    return stage_trial(crop_kind(), std::string("{size: ") + size + "}", std::move(inputs))
        .complaints();
  };
  EXPECT_THAT(complaints({pictures, boxes, count, {{10, 2}, dtype::float32}}), ElementsAre());
  EXPECT_THAT(complaints({pictures, {{2, 5, 4}, dtype::float32}, count}), ElementsAre());
  EXPECT_THAT(complaints({pictures, boxes, count}, "[2, 2], format: center"),
              ElementsAre("'format' applies to boxes [B, N, 4], found float32 [2, 5, 4, 2]"));
  for (const auto& wrong :
       std::vector<std::vector<tensor_type>>{{pictures, boxes, {{1}, dtype::int64}},
                                             {pictures, {{2, 5, 8}, dtype::float32}, count},
                                             {pictures, {{1, 5, 4, 2}, dtype::float32}, count},
                                             {{{2, 3, 8, 8}, dtype::float32}, boxes, count},
                                             {pictures, boxes, count, {{5, 2}, dtype::float32}}}) {
    EXPECT_THAT(complaints(wrong), ElementsAre(HasSubstr("found " + to_string(wrong[0]))));
  }
  EXPECT_THAT(complaints({pictures, boxes, count}, "[2]"),
              ElementsAre("'size' must hold 2 numbers (height and width), found 1"));
}

}  // namespace
}  // namespace graphline
