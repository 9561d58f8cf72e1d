#include <gmock/gmock.h>

#include <cmath>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr std::int64_t map_rows = 64;
constexpr std::int64_t map_columns = 96;

/// A map that is `value` where `inside` returns true.
template <class Inside>
std::vector<float> map_of(Inside inside, float value = 0.9F) {
  std::vector<float> map;
  for (std::int64_t y = 0; y < map_rows; ++y) {
    for (std::int64_t x = 0; x < map_columns; ++x) map.push_back(inside(x, y) ? value : 0.0F);
  }
  return map;
}

auto block(std::int64_t left, std::int64_t top, std::int64_t right, std::int64_t bottom) {
  return [=](std::int64_t x, std::int64_t y) {
    return left <= x && x <= right && top <= y && y <= bottom;
  };
}

stage_trial found(const std::vector<float>& map, const std::string& parameters = "") {
  stage_trial trial(text_boxes_kind(), "{max_outputs: 3" + parameters + "}",
                    {{{1, 1, map_rows, map_columns}, dtype::float32}});
  trial.input(0, map).run();
  return trial;
}

std::int64_t count_of(const stage_trial& trial) {
  return trial.output<std::int64_t>(1).at(0);
}

std::vector<float> box_of(const stage_trial& trial, std::ptrdiff_t index) {
  const std::vector<float> all = trial.output<float>(0);
  return {all.begin() + index * 8, all.begin() + (index + 1) * 8};
}

TEST(text_boxes, grow_by_area_over_perimeter) {
  // The mask is a pixel wider than the block: 20 by 8 between centers, so that it grows by
  // 1.6 * 160 / 56 = 4.57.
  const stage_trial trial = found(map_of(block(10, 8, 29, 15)));
  EXPECT_EQ(count_of(trial), 1);
  EXPECT_THAT(box_of(trial, 0), ElementsAre(5, 3, 35, 3, 35, 21, 5, 21));
  EXPECT_THAT(box_of(trial, 1), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(box_of(found(map_of(block(10, 8, 29, 15)), ", unclip: 0"), 0),
              ElementsAre(10, 8, 30, 8, 30, 16, 10, 16));
}

TEST(text_boxes, follow_a_line_in_any_direction_and_begin_at_its_left_end) {
  const double angle = 0.5;
  const auto turned = [&](double along, double across) {
    return std::pair(48 + along * std::cos(angle) - across * std::sin(angle),
                     32 + along * std::sin(angle) + across * std::cos(angle));
  };
  const auto line = [&](std::int64_t x, std::int64_t y) {
    const double dx = static_cast<double>(x) - 48;
    const double dy = static_cast<double>(y) - 32;
    return std::abs(dx * std::cos(angle) + dy * std::sin(angle)) <= 30 &&
           std::abs(dy * std::cos(angle) - dx * std::sin(angle)) <= 5;
  };
  const stage_trial trial = found(map_of(line), ", unclip: 0");
  ASSERT_EQ(count_of(trial), 1);
  std::vector<float> expected;
  for (const auto& [along, across] : {std::pair(-30, -5), {30, -5}, {30, 5}, {-30, 5}}) {
    const auto [x, y] = turned(along, across);
    expected.push_back(static_cast<float>(x));
    expected.push_back(static_cast<float>(y));
  }
  EXPECT_THAT(box_of(trial, 0), Pointwise(FloatNear(1.6F), expected));
}

TEST(text_boxes, lie_where_rapidocr_has_them) {
  std::vector<float> map;
  for (const std::uint8_t inside : reference<std::uint8_t>("text_map")) {
    map.push_back(inside == 0 ? 0.0F : 0.9F);
  }
  stage_trial trial(text_boxes_kind(), "{max_outputs: 5}", {{{1, 1, 128, 192}, dtype::float32}});
  EXPECT_EQ(count_of(trial.input(0, map).run()), 5);
  EXPECT_EQ(trial.output<float>(0), reference<float>("text_boxes"));
}

TEST(text_boxes, are_one_where_pixels_touch_by_a_corner) {
  const auto steps = [](std::int64_t x, std::int64_t y) {
    return block(10, 10, 20, 20)(x, y) || block(22, 22, 30, 30)(x, y);  // the mask grows by one
  };
  EXPECT_EQ(count_of(found(map_of(steps), ", box_threshold: 0.1")), 1);
}

TEST(text_boxes, have_no_holes) {
  const auto ring = [](std::int64_t x, std::int64_t y) {
    return block(10, 10, 40, 40)(x, y) && !block(20, 20, 30, 30)(x, y);
  };
  EXPECT_EQ(count_of(found(map_of(ring))), 1);
}

TEST(text_boxes, are_dropped_where_they_are_improbable_or_narrow) {
  EXPECT_EQ(count_of(found(map_of(block(10, 8, 29, 15), 0.3F))), 0);
  EXPECT_EQ(count_of(found(map_of(block(10, 8, 29, 15), 0.5F))), 0);
  EXPECT_EQ(count_of(found(map_of(block(10, 8, 29, 15), 0.5F), ", box_threshold: 0.4")), 1);
  EXPECT_EQ(count_of(found(map_of(block(10, 8, 29, 9)))), 0);
  EXPECT_EQ(count_of(found(map_of(block(50, 9, 50, 9)))), 0);
}

TEST(text_boxes, stay_inside_the_map) {
  const stage_trial trial = found(map_of(block(0, 0, map_columns - 1, map_rows - 1)));
  EXPECT_THAT(box_of(trial, 0), ElementsAre(0, 0, map_columns - 1, 0, map_columns - 1, map_rows - 1,
                                            0, map_rows - 1));
}

TEST(text_boxes, come_in_reading_order_the_most_probable_where_there_are_too_many) {
  std::vector<float> map(map_rows * map_columns);
  const auto add = [&](auto inside, float value) {
    const std::vector<float> one = map_of(inside, value);
    for (std::size_t i = 0; i < map.size(); ++i) map[i] += one[i];
  };
  add(block(10, 40, 29, 47), 0.8F);
  add(block(50, 5, 69, 12), 0.9F);  // the tops of this line and the next differ by less than ten
  add(block(10, 8, 29, 15), 0.9F);
  add(block(60, 45, 79, 52), 0.7F);  // the least probable of four
  const stage_trial trial = found(map, ", unclip: 0");
  EXPECT_EQ(count_of(trial), 4);
  EXPECT_THAT(box_of(trial, 0).front(), 10);
  EXPECT_THAT(box_of(trial, 1).front(), 50);
  EXPECT_THAT(box_of(trial, 2), ElementsAre(10, 40, 30, 40, 30, 48, 10, 48));
}

TEST(text_boxes, of_each_map_of_a_batch_are_found_by_themselves) {
  std::vector<float> maps = map_of(block(10, 8, 29, 15));
  const std::vector<float> second(maps.size(), 0.0F);
  maps.insert(maps.end(), second.begin(), second.end());
  stage_trial trial(text_boxes_kind(), "{max_outputs: 2}",
                    {{{2, 1, map_rows, map_columns}, dtype::float32}});
  EXPECT_THAT(trial.input(0, maps).run().output<std::int64_t>(1), ElementsAre(1, 0));
}

TEST(text_boxes, are_refused_of_anything_but_a_map) {
  for (const tensor_type& wrong :
       {tensor_type{{1, 3, 8, 8}, dtype::float32}, tensor_type{{1, 8, 8}, dtype::float32},
        tensor_type{{1, 1, 8, 8}, dtype::uint8}}) {
    EXPECT_THAT(stage_trial(text_boxes_kind(), "{max_outputs: 1}", {wrong}).complaints(),
                ElementsAre(HasSubstr("found " + to_string(wrong))));
  }
}

}  // namespace
}  // namespace graphline
