#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "framework/spec/pipeline_reader.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> bad_pipelines() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(GRAPHLINE_TEST_DIR "/bad")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class bad_pipeline : public ::testing::TestWithParam<std::string> {};

/// Each file of bad/ against the whole of what a user sees.
TEST_P(bad_pipeline, is_refused_as_expected) {
  const fs::path file = fs::path(GRAPHLINE_TEST_DIR) / "bad" / (GetParam() + ".yaml");
  const auto source = std::make_shared<const source_text>(file.filename(), text_of(file));
  diagnostics out;
  const pipeline_spec spec = read_pipeline(source, {}, out);
  make_plan(spec, lasting_registry(), {.device_memory_bytes = std::uint64_t{16} << 30}, out);
  EXPECT_TRUE(out.has_errors());
  EXPECT_EQ(out.render() + "\n", text_of(fs::path(file).replace_extension(".expected")));
}

INSTANTIATE_TEST_SUITE_P(planner, bad_pipeline, ::testing::ValuesIn(bad_pipelines()),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace graphline::testing
