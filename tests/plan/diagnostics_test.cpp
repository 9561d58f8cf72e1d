#include "tests/plan/experiment_testing.hpp"
#include "tests/spec/bad_files.hpp"

namespace graphline::plan_testing {
namespace {

const std::filesystem::path bad_pipelines = GRAPHLINE_TEST_DIR "/bad";
const std::filesystem::path bad_experiments = GRAPHLINE_TEST_DIR "/bad_experiments";
const plan_target sixteen_gib{.device_memory_bytes = std::uint64_t{16} << 30, .cpus = {0, 1, 2, 3}};

class bad_pipeline : public ::testing::TestWithParam<std::string> {};

TEST_P(bad_pipeline, is_refused_as_expected) {
  const std::string file = GetParam() + ".yaml";
  reading r = read_pipeline_text(file_text(bad_pipelines / file), {}, file);
  make_plan(r.spec, lasting_registry(), sixteen_gib, r.said);
  EXPECT_TRUE(r.said.has_errors());
  expect_explained(bad_pipelines, GetParam(), r.said.render());
}

class bad_experiment : public ::testing::TestWithParam<std::string> {};

TEST_P(bad_experiment, is_refused_as_expected) {
  const std::string folder = bad_experiments.string() + "/";
  const std::string file = folder + GetParam() + ".yaml";
  std::string said = plan_text(file, file_text(file), sixteen_gib).out.render();
  for (std::size_t at = 0; (at = said.find(folder)) != std::string::npos;) {
    said.erase(at, folder.size());
  }
  expect_explained(bad_experiments, GetParam(), said);
}

INSTANTIATE_TEST_SUITE_P(planner, bad_pipeline, ::testing::ValuesIn(bad_files_in(bad_pipelines)),
                         name_of_bad_file);
INSTANTIATE_TEST_SUITE_P(planner, bad_experiment,
                         ::testing::ValuesIn(bad_files_in(bad_experiments)), name_of_bad_file);

}  // namespace
}  // namespace graphline::plan_testing
