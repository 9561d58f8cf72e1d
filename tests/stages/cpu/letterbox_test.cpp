#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string parameters(std::int64_t rows, std::int64_t columns) {
  return "{size: [" + std::to_string(rows) + ", " + std::to_string(columns) + "]}";
}

/// A picture, the size to fit it into, and where the formulas of Ultralytics' LetterBox
/// (ultralytics/data/augment.py), evaluated in Python, put it.
struct fit_case {
  std::int64_t rows, columns;
  std::int64_t to_rows, to_columns;
  float scale;
  std::int64_t scaled_rows, scaled_columns;
  std::int64_t top, left;
};

class letterbox_fit : public testing::TestWithParam<fit_case> {};

TEST_P(letterbox_fit, is_that_of_ultralytics) {
  const fit_case& c = GetParam();
  const tensor_type pictures{{1, c.rows, c.columns, 3}, dtype::uint8};
  std::vector<std::uint8_t> picture(pictures.bytes());
  for (std::size_t i = 0; i < picture.size(); ++i) {
    picture[i] = static_cast<std::uint8_t>(i * i / 7 + 31 * i);
  }
  stage_trial resize(resize_kind(), parameters(c.scaled_rows, c.scaled_columns), {pictures});
  const auto scaled = resize.input(0, picture).run().output<std::uint8_t>(0);

  std::vector<std::uint8_t> expected(static_cast<std::size_t>(c.to_rows * c.to_columns * 3), 114);
  for (std::int64_t y = 0; y < c.scaled_rows; ++y) {
    std::copy_n(scaled.begin() + y * c.scaled_columns * 3, c.scaled_columns * 3,
                expected.begin() + ((c.top + y) * c.to_columns + c.left) * 3);
  }
  stage_trial trial(letterbox_kind(), parameters(c.to_rows, c.to_columns), {pictures});
  trial.input(0, picture).run();
  EXPECT_EQ(trial.output<std::uint8_t>(0), expected);
  EXPECT_THAT(trial.output<float>(1),
              ElementsAre(c.scale, static_cast<float>(c.left), static_cast<float>(c.top)));
}

INSTANTIATE_TEST_SUITE_P(
    sizes, letterbox_fit,
    testing::Values(fit_case{60, 80, 40, 40, 0.5F, 30, 40, 5, 0},
                    fit_case{60, 80, 33, 32, 0.4F, 24, 32, 4, 0},         // 4.5 above: 4
                    fit_case{60, 80, 24, 41, 0.4F, 24, 32, 0, 4},         // likewise on the left
                    fit_case{60, 80, 150, 170, 2.125F, 128, 170, 11, 0},  // grows
                    fit_case{60, 80, 60, 80, 1, 60, 80, 0, 0},
                    fit_case{5, 8, 4, 4, 0.5F, 2, 4, 1, 0},  // 2.5 rows: 2
                    fit_case{7, 8, 4, 4, 0.5F, 4, 4, 0, 0},  // 3.5 rows: 4
                    fit_case{31, 17, 20, 20, 20.0F / 31, 20, 11, 0, 4},
                    fit_case{3, 2, 7, 16, 7.0F / 3, 7, 5, 0, 5}));

TEST(letterbox, keeps_a_row_of_a_picture_that_is_too_flat_for_one) {
  stage_trial trial(letterbox_kind(), "{size: [3, 3]}", {{{1, 1, 60, 1}, dtype::uint8}});
  trial.input(0, std::vector<std::uint8_t>(60, 9)).run();
  EXPECT_THAT(trial.output<std::uint8_t>(0), ElementsAre(114, 114, 114, 9, 9, 9, 114, 114, 114));
}

TEST(letterbox, fits_each_picture_of_a_batch_by_its_own_size) {
  stage_trial trial(letterbox_kind(), "{size: [2, 4], fill: 7}",
                    {{{4, 2, 3, 1}, dtype::uint8}, {{4, 2}, dtype::int64}});
  trial.input<std::uint8_t>(
      0, {1, 2, 0, 3, 4, 0, 5, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
  trial.input<std::int64_t>(1, {2, 2, 1, 1, 0, 3, 2, 0}).run();
  const auto fitted = trial.output<std::uint8_t>(0);
  EXPECT_THAT(std::vector(fitted.begin(), fitted.begin() + 8), ElementsAre(7, 1, 2, 7, 7, 3, 4, 7));
  EXPECT_THAT(std::vector(fitted.begin() + 8, fitted.begin() + 16),
              ElementsAre(7, 5, 5, 7, 7, 5, 5, 7));
  EXPECT_THAT(std::vector(fitted.begin() + 16, fitted.end()), Each(7));  // no pictures
  EXPECT_THAT(trial.output<float>(1), ElementsAre(1, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0));
}

TEST(letterbox, places_a_box_where_its_pixels_are) {
  // A white box at x 12 to 36 and y 8 to 20 of a black picture, which shrinks by 4.
  stage_trial trial(letterbox_kind(), "{size: [20, 15]}", {{{1, 40, 60, 1}, dtype::uint8}});
  std::vector<std::uint8_t> picture(40 * 60, 0);
  for (std::size_t y = 8; y < 20; ++y) {
    std::fill_n(picture.begin() + static_cast<std::ptrdiff_t>(y * 60 + 12), 24, std::uint8_t{255});
  }
  trial.input(0, picture).run();
  const auto fitted = trial.output<std::uint8_t>(0);
  const auto first = std::ranges::find(fitted, 255) - fitted.begin();
  const auto last = std::find(fitted.rbegin(), fitted.rend(), 255).base() - fitted.begin() - 1;
  const auto placement = trial.output<float>(1);
  const auto x = [&](std::ptrdiff_t pixel) {
    return (static_cast<float>(pixel) - placement[1]) / placement[0];
  };
  const auto y = [&](std::ptrdiff_t pixel) {
    return (static_cast<float>(pixel) - placement[2]) / placement[0];
  };
  EXPECT_THAT((std::vector{x(first % 15), y(first / 15), x(last % 15 + 1), y(last / 15 + 1)}),
              ElementsAre(12, 8, 36, 20));
}

TEST(letterbox, refuses_what_is_no_picture) {
  const auto complaints = [](std::vector<tensor_type> inputs, const char* given) {
    return stage_trial(letterbox_kind(), given, std::move(inputs)).complaints();
  };
  const tensor_type pictures{{2, 8, 8, 3}, dtype::uint8};
  EXPECT_THAT(complaints({{{2, 8, 8, 3}, dtype::float32}}, "{size: [2, 2]}"),
              ElementsAre(HasSubstr("cpu.letterbox reads pictures uint8 [B, H, W, C]")));
  EXPECT_THAT(complaints({pictures, {{1, 2}, dtype::int64}}, "{size: [2, 2]}"),
              ElementsAre(HasSubstr("found uint8 [2, 8, 8, 3], int64 [1, 2]")));
  EXPECT_THAT(complaints({pictures}, "{size: 24}"),
              ElementsAre("'size' must hold 2 numbers (height and width), found 1"));
  EXPECT_THAT(complaints({pictures}, "{size: [2, 2], fill: 256}"),
              ElementsAre(HasSubstr("'fill' must be")));
}

}  // namespace
}  // namespace graphline
