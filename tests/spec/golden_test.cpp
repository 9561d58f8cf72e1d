// Each bad/NAME.yaml is read, and everything said about it must be what bad/NAME.expected holds. A
// first line "# read with: --set a=1 --set b=2" gives the options. To write the expected files anew
// after a message was changed on purpose, run this with GRAPHLINE_UPDATE_GOLDEN=1 and look at the
// difference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

const std::filesystem::path bad_files = GRAPHLINE_TEST_DIR "/bad";

std::vector<std::string> bad_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(bad_files)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

reading_options options_in(const std::string& text) {
  reading_options options;
  std::istringstream words(text.substr(0, text.find('\n')));
  std::string word;
  while (words >> word) {
    if (word != "--set") continue;
    words >> word;
    const std::size_t equals = word.find('=');
    options.set.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return options;
}

class bad_file : public testing::TestWithParam<std::string> {};

TEST_P(bad_file, is_explained) {
  const std::string text = file_text(bad_files / (GetParam() + ".yaml"));
  ASSERT_FALSE(text.empty());
  const reading r = read_pipeline_text(text, options_in(text), GetParam() + ".yaml");
  const std::string said = r.said.render() + "\n";
  EXPECT_FALSE(r.said.all().empty());

  const std::filesystem::path expected = bad_files / (GetParam() + ".expected");
  if (std::getenv("GRAPHLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << said;
  EXPECT_EQ(file_text(expected), said) << "expected text: " << expected;
}

INSTANTIATE_TEST_SUITE_P(spec, bad_file, testing::ValuesIn(bad_names()),
                         [](const auto& test) { return test.param; });

TEST(bad_files_folder, holds_no_expectation_without_its_file) {
  for (const auto& entry : std::filesystem::directory_iterator(bad_files)) {
    auto source = entry.path();
    EXPECT_TRUE(exists(source.replace_extension(".yaml"))) << entry.path();
  }
}

}  // namespace
}  // namespace graphline
