#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "stages/kinds.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct outcome {
  int status;
  std::string messages;
};

/// Runs the program with `arguments`, as a shell would.
outcome make_images(const std::string& arguments) {
  const temporary_folder place;
  const std::string messages = place.path() / "messages";
  const int result = std::system(
      ("'" GRAPHLINE_MAKE_IMAGES "' " + arguments + " >/dev/null 2>'" + messages + "'").c_str());
  return {WIFEXITED(result) ? WEXITSTATUS(result) : -1, file_contents(messages)};
}

std::string quoted(const std::string& text) {
  return std::string("'").append(text).append("'");
}

TEST(make_images, draws_pictures_that_differ_and_are_the_same_each_time) {
  const temporary_folder place;
  const std::string folder = place.path() / "new/photos";
  const outcome drawn = make_images(quoted(folder) + " 2");
  ASSERT_EQ(drawn.status, 0) << drawn.messages;

  stage_trial trial(images_kind(), "{folder: '" + folder + "', batch: 3}");
  ASSERT_THAT(trial.complaints(), IsEmpty());
  const std::vector<std::uint8_t> pixels = trial.run().output<std::uint8_t>(0);
  const auto second = pixels.begin() + static_cast<std::ptrdiff_t>(pixels.size() / 3);
  const auto third = second + static_cast<std::ptrdiff_t>(pixels.size() / 3);
  EXPECT_FALSE(std::equal(pixels.begin(), second, second));
  EXPECT_TRUE(std::equal(pixels.begin(), second, third)) << "two were asked for";

  const temporary_folder other;
  ASSERT_EQ(make_images(quoted(other.path()) + " 2").status, 0);
  EXPECT_EQ(file_contents(folder + "/image_0001.jpg"),
            file_contents(other.path() / "image_0001.jpg"));
}

TEST(make_images, ends_with_status_2_when_the_command_line_is_wrong) {
  EXPECT_EQ(make_images("").status, 2);
  EXPECT_EQ(make_images("--what").status, 2);
  for (const std::string count : {"0", "10000", "-1", "3x", "''"}) {
    const temporary_folder place;
    const outcome refused = make_images(quoted(place.path()) + " " + count);
    EXPECT_EQ(refused.status, 2) << count;
    EXPECT_THAT(refused.messages, HasSubstr("COUNT must be a whole number from 1 to 9999"));
    EXPECT_TRUE(std::filesystem::is_empty(place.path()));
  }
}

}  // namespace
}  // namespace graphline
