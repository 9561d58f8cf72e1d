#include <gmock/gmock.h>

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

std::string to_size(std::int64_t rows, std::int64_t columns) {
  return "{size: [" + std::to_string(rows) + ", " + std::to_string(columns) + "]}";
}

TEST(resize, computes_what_opencv_does) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {24, 32}, {30, 40}, {60, 80}, {61, 79}, {150, 170}, {7, 200}, {1, 1}}) {
    stage_trial trial(resize_kind(), to_size(rows, columns), {{{1, 60, 80, 3}, dtype::uint8}});
    trial.input(0, reference<std::uint8_t>("picture")).run();
    EXPECT_EQ(
        trial.output<std::uint8_t>(0),
        reference<std::uint8_t>("resized_" + std::to_string(rows) + "_" + std::to_string(columns)));
  }
}

TEST(resize, takes_no_more_of_a_part_than_its_picture) {
  // The first of two pictures fills 1 x 2 of 2 x 3 pixels, the second is empty.
  stage_trial trial(resize_kind(), to_size(2, 2),
                    {{{2, 2, 3, 1}, dtype::uint8}, {{2, 2}, dtype::int64}});
  trial.input<std::uint8_t>(0, {10, 20, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99});
  trial.input<std::int64_t>(1, {1, 2, 0, 3}).run();
  EXPECT_THAT(trial.output<std::uint8_t>(0), ElementsAre(10, 20, 10, 20, 0, 0, 0, 0));
}

TEST(resize, stays_in_its_part_whatever_the_sizes_are) {
  stage_trial trial(resize_kind(), to_size(3, 3),
                    {{{2, 2, 2, 1}, dtype::uint8}, {{2, 2}, dtype::int64}});
  trial.input<std::uint8_t>(0, {7, 7, 7, 7, 7, 7, 7, 7});
  trial.input<std::int64_t>(1, {1'000'000, 1'000'000, -1, 2}).run();
  const auto resized = trial.output<std::uint8_t>(0);
  EXPECT_THAT(std::vector(resized.begin(), resized.begin() + 9), Each(7));
  EXPECT_THAT(std::vector(resized.begin() + 9, resized.end()), Each(0));
}

TEST(resize, refuses_what_is_no_picture) {
  const auto complaints = [](std::vector<tensor_type> inputs, const char* size = "[2, 2]") {
    return stage_trial(resize_kind(), std::string("{size: ") + size + "}", std::move(inputs))
        .complaints();
  };
  const tensor_type pictures{{2, 8, 8, 3}, dtype::uint8};
  EXPECT_THAT(complaints({{{2, 8, 8, 3}, dtype::float32}}),
              ElementsAre(HasSubstr("found float32 [2, 8, 8, 3]")));
  EXPECT_THAT(complaints({{{8, 8, 3}, dtype::uint8}}), ElementsAre(HasSubstr("uint8 [8, 8, 3]")));
  EXPECT_THAT(complaints({pictures, {{1, 2}, dtype::int64}}),
              ElementsAre(HasSubstr("found uint8 [2, 8, 8, 3], int64 [1, 2]")));
  EXPECT_THAT(complaints({pictures}, "24"),
              ElementsAre("'size' must hold 2 numbers (height and width), found 1"));
}

}  // namespace
}  // namespace graphline
