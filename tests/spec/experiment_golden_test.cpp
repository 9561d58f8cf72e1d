// Each bad_experiments/NAME.yaml is read, and everything said about it must be what
// bad_experiments/NAME.expected holds. To write the expected files anew after a message was changed
// on purpose, run this with GRAPHLINE_UPDATE_GOLDEN=1 and look at the difference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/spec/experiment_reading.hpp"
#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

const fs::path bad_experiments = GRAPHLINE_TEST_DIR "/bad_experiments";

std::vector<std::string> bad_experiment_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(bad_experiments)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

class bad_experiment : public testing::TestWithParam<std::string> {};

TEST_P(bad_experiment, is_explained) {
  const std::string text = file_text(bad_experiments / (GetParam() + ".yaml"));
  ASSERT_FALSE(text.empty());
  const experiment_reading r = read_experiment_text(text, GetParam() + ".yaml");
  const std::string said = r.said.render() + "\n";
  EXPECT_TRUE(r.said.has_errors());

  const fs::path expected = bad_experiments / (GetParam() + ".expected");
  if (std::getenv("GRAPHLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << said;
  EXPECT_EQ(file_text(expected), said) << "expected text: " << expected;
}

INSTANTIATE_TEST_SUITE_P(spec, bad_experiment, testing::ValuesIn(bad_experiment_names()),
                         [](const auto& test) { return test.param; });

TEST(bad_experiments_folder, holds_no_expectation_without_its_file) {
  for (const auto& entry : fs::directory_iterator(bad_experiments)) {
    auto source = entry.path();
    EXPECT_TRUE(exists(source.replace_extension(".yaml"))) << entry.path();
  }
}

}  // namespace
}  // namespace graphline
