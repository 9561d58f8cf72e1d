// Each bad/NAME.yaml, a pipeline, and bad_experiments/NAME.yaml is read, and everything said about
// it must be what NAME.expected holds. A first line "# read with: --set a=1 --set b=2" gives the
// options. To write the expected files anew after a message was changed on purpose, run this with
// GRAPHLINE_UPDATE_GOLDEN=1 and look at the difference.

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

namespace fs = std::filesystem;

const fs::path bad_pipelines = GRAPHLINE_TEST_DIR "/bad";
const fs::path bad_experiments = GRAPHLINE_TEST_DIR "/bad_experiments";

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
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

/// What `read` says of a text must be what is expected.
template <class Read>
void expect_explained(const fs::path& folder, const std::string& name, Read read) {
  const std::string text = file_text(folder / (name + ".yaml"));
  ASSERT_FALSE(text.empty());
  const diagnostics out = read(text, name + ".yaml").said;
  EXPECT_FALSE(out.all().empty());
  const std::string said = out.render() + "\n";
  const fs::path expected = folder / (name + ".expected");
  if (std::getenv("GRAPHLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << said;
  EXPECT_EQ(file_text(expected), said) << "expected text: " << expected;
}

class bad_file : public testing::TestWithParam<std::string> {};

TEST_P(bad_file, is_explained) {
  expect_explained(bad_pipelines, GetParam(), [](const std::string& text, const std::string& name) {
    return read_pipeline_text(text, options_in(text), name);
  });
}

class bad_experiment : public testing::TestWithParam<std::string> {};

TEST_P(bad_experiment, is_explained) {
  expect_explained(bad_experiments, GetParam(), read_experiment_text);
}

const auto name_of = [](const auto& test) { return test.param; };
INSTANTIATE_TEST_SUITE_P(spec, bad_file, testing::ValuesIn(names_in(bad_pipelines)), name_of);
INSTANTIATE_TEST_SUITE_P(spec, bad_experiment, testing::ValuesIn(names_in(bad_experiments)),
                         name_of);

TEST(folders_of_bad_files, hold_no_expectation_without_its_file) {
  for (const auto& folder : {bad_pipelines, bad_experiments}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      EXPECT_TRUE(exists(fs::path(entry).replace_extension(".yaml"))) << entry.path();
    }
  }
}

}  // namespace
}  // namespace graphline
