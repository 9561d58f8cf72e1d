#include <gmock/gmock.h>

#include <vector>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

/// A few units in the last place of numbers up to 3.
constexpr float rounding = 1e-6F;

const std::vector<tensor_type> one_picture = {{{1, 60, 80, 3}, dtype::uint8}};

TEST(normalize, agrees_with_numpy) {
  stage_trial trial(normalize_kind(), "{}", one_picture);
  EXPECT_EQ(trial.prepared().outputs.at(0), (tensor_type{{1, 3, 60, 80}, dtype::float32}));
  trial.input(0, reference<std::uint8_t>("picture")).run();
  EXPECT_THAT(trial.output<float>(0),
              Pointwise(FloatNear(rounding), reference<float>("normalized")));
}

TEST(normalize, can_have_blue_first) {
  stage_trial trial(normalize_kind(), "{channels: bgr}", one_picture);
  const auto bgr = trial.input(0, reference<std::uint8_t>("picture")).run().output<float>(0);
  const auto rgb = reference<float>("normalized");
  const auto plane = [](const std::vector<float>& of, std::ptrdiff_t c) {
    return std::vector<float>(of.begin() + c * 60 * 80, of.begin() + (c + 1) * 60 * 80);
  };
  for (const std::ptrdiff_t c : {0, 1, 2}) {
    EXPECT_THAT(plane(bgr, 2 - c), Pointwise(FloatNear(rounding), plane(rgb, c)));
  }
}

TEST(normalize, makes_the_gray_of_pillow) {
  stage_trial trial(normalize_kind(), "{channels: gray, mean: 0, std: 1}", one_picture);
  EXPECT_EQ(trial.prepared().outputs.at(0), (tensor_type{{1, 1, 60, 80}, dtype::float32}));
  const auto found = trial.input(0, reference<std::uint8_t>("picture")).run().output<float>(0);
  std::vector<std::uint8_t> levels;
  for (const float value : found) levels.push_back(static_cast<std::uint8_t>(value * 255 + 0.5F));
  EXPECT_EQ(levels, reference<std::uint8_t>("picture_gray"));
  stage_trial scaled(normalize_kind(), "{channels: gray, mean: 0.25, std: 0.5}", one_picture);
  const auto values = scaled.input(0, reference<std::uint8_t>("picture")).run().output<float>(0);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    ASSERT_NEAR(values[i], (levels[i] / 255.0 - 0.25) / 0.5, rounding) << i;
  }
}

TEST(normalize, leaves_zeros_outside_of_a_picture) {
  stage_trial trial(normalize_kind(), "{mean: [0, 0, 0], std: [1, 0.5, 0.25]}",
                    {{{1, 2, 2, 3}, dtype::uint8}, {{1, 2}, dtype::int64}});
  trial.input<std::uint8_t>(0, {51, 51, 51, 9, 9, 9, 102, 102, 102, 9, 9, 9});
  trial.input<std::int64_t>(1, {2, 1}).run();
  EXPECT_THAT(trial.output<float>(0),
              Pointwise(FloatNear(rounding),
                        {0.2F, 0.0F, 0.4F, 0.0F, 0.4F, 0.0F, 0.8F, 0.0F, 0.8F, 0.0F, 1.6F, 0.0F}));
}

TEST(normalize, refuses_wrong_numbers_and_what_is_no_picture) {
  const auto complaints = [](const char* parameters, std::vector<tensor_type> inputs) {
    return stage_trial(normalize_kind(), parameters, std::move(inputs)).complaints();
  };
  EXPECT_THAT(complaints("{mean: [0.5]}", one_picture),
              ElementsAre("'mean' must hold 3 numbers (red, green and blue), found 1"));
  EXPECT_THAT(complaints("{channels: gray, std: 0.5}", one_picture),
              ElementsAre("'mean' must hold 1 number (gray has no default), found 3"));
  EXPECT_THAT(complaints("{std: [1, 0, 1]}", one_picture),
              ElementsAre("'std' divides: it must not be 0"));
  EXPECT_THAT(complaints("{}", {{{1, 2, 2, 1}, dtype::uint8}}),
              ElementsAre("cpu.normalize reads pictures of 3 channels, found uint8 [1, 2, 2, 1]"));
  EXPECT_THAT(complaints("{}", {{{1, 3, 2, 2}, dtype::float32}}),
              ElementsAre(HasSubstr("found float32 [1, 3, 2, 2]")));
}

}  // namespace
}  // namespace graphline
