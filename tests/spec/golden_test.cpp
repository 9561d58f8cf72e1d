// Reads each pipeline bad/NAME.yaml and each experiment bad_experiments/NAME.yaml and compares all
// diagnostics with NAME.expected. A first line "# read with: --set a=1 --set b=2" sets options.

#include <sstream>

#include "tests/spec/bad_files.hpp"

namespace graphline {
namespace {

const std::filesystem::path bad_pipelines = GRAPHLINE_TEST_DIR "/bad";
const std::filesystem::path bad_experiments = GRAPHLINE_TEST_DIR "/bad_experiments";

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
  const std::string file = GetParam() + ".yaml";
  const std::string text = file_text(bad_pipelines / file);
  expect_explained(bad_pipelines, GetParam(),
                   read_pipeline_text(text, options_in(text), file).said.render());
}

class bad_experiment : public testing::TestWithParam<std::string> {};

TEST_P(bad_experiment, is_explained) {
  const std::string file = GetParam() + ".yaml";
  expect_explained(bad_experiments, GetParam(),
                   read_experiment_text(file_text(bad_experiments / file), file).said.render());
}

INSTANTIATE_TEST_SUITE_P(spec, bad_file, testing::ValuesIn(bad_files_in(bad_pipelines)),
                         name_of_bad_file);
INSTANTIATE_TEST_SUITE_P(spec, bad_experiment, testing::ValuesIn(bad_files_in(bad_experiments)),
                         name_of_bad_file);

}  // namespace
}  // namespace graphline
