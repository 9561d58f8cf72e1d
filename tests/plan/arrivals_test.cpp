#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "framework/plan/experiment_plan.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "tests/plan/experiment_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The plan of a pipeline file with this `run:` section, and what was said.
struct planned_load {
  planned_load(const temporary_folder& folder, const std::string& run) {
    const auto path = folder.write(
        "p.yaml", "pipeline: p\nstages: [{name: a, kind: work, shape: [1]}]\nrun: {" + run + "}\n");
    const auto spec = read_pipeline(read_source(path), {}, out);
    plan = make_plan(spec, registry, {}, out);
  }

  stage_registry registry = test_registry();
  diagnostics out;
  graphline::plan plan;
};

TEST(a_plan_with_a_trace, has_its_times_and_names_its_file) {
  const temporary_folder folder;
  folder.write("a.csv", "due_us\n0\n10\n40\n");
  const planned_load p(folder, "arrival: trace, arrival_file: a.csv, frames: 2");
  EXPECT_EQ(p.out.render(), "");
  EXPECT_THAT(p.plan.arrivals->due, ElementsAre(0, 10'000, 40'000));
  EXPECT_EQ(p.plan.run.frames, 2);
  EXPECT_THAT(data_files(p.plan), ElementsAre(folder / "a.csv"));
}

TEST(a_plan_with_a_trace, has_no_more_frames_than_arrive_and_says_so_where_more_were_written) {
  const temporary_folder folder;
  folder.write("a.csv", "0\n1\n2\n");
  const planned_load unasked(folder, "arrival: trace, arrival_file: a.csv, burst: 2");
  EXPECT_EQ(unasked.out.render(), "");
  EXPECT_EQ(unasked.plan.run.frames, 6);
  EXPECT_EQ(frames_that_arrive(unasked.plan, 100), 6);
  EXPECT_EQ(frames_that_arrive(unasked.plan, 5), 5);
  const planned_load asked(folder, "arrival: trace, arrival_file: a.csv, frames: 4");
  EXPECT_EQ(asked.plan.run.frames, 3);
  EXPECT_THAT(asked.out.render(),
              HasSubstr("p.yaml:3:52: warning: frames: 4 is more than arrive in '" +
                        (folder / "a.csv") + "'; the run has 3"));
}

TEST(a_plan_with_a_trace, is_refused_where_no_rate_can_scale_it) {
  const temporary_folder folder;
  folder.write("a.csv", "1\n1\n");
  const planned_load own(folder, "arrival: trace, arrival_file: a.csv");
  EXPECT_EQ(own.out.render(), "");
  const planned_load scaled(folder, "arrival: trace, arrival_file: a.csv, rate: 30");
  EXPECT_THAT(scaled.out.render(),
              HasSubstr("p.yaml:3:50: error: rate: 30 cannot scale the times in '" +
                        (folder / "a.csv") + "', which are all the same; omit the rate"));
}

TEST(a_plan_with_a_trace, is_refused_with_all_other_errors_where_the_file_is_wrong) {
  const temporary_folder folder;
  folder.write("a.csv", "1\n0\n");
  const planned_load p(folder,
                       "arrival: trace, arrival_file: a.csv, strategy: serial, in_flight: 2");
  EXPECT_THAT(p.out.render(),
              HasSubstr("error: in_flight: 2 makes no sense with strategy: serial"));
  EXPECT_THAT(p.out.render(),
              HasSubstr("p.yaml:3:37: error: arrival file '" + (folder / "a.csv") +
                        "', line 2: 0 is earlier than the time before it; sort the times"));
}

TEST(an_experiment_with_traces, says_once_what_is_wrong_with_a_file_of_several_configurations) {
  const temporary_folder folder;
  folder.write("small.yaml", small_pipeline);
  folder.write("a.csv", "1\nx\n");
  const auto e = plan_text(folder / "exp.yaml",
                           "experiment: e\npipeline: small.yaml\n"
                           "run: {arrival: trace, arrival_file: a.csv}\n"
                           "vary: {in_flight: [1, 2]}\n");
  EXPECT_THAT(e.out.render(), StartsWith((folder / "exp.yaml") + ":3:37: error: arrival file '" +
                                         (folder / "a.csv") + "', line 2: this is not a number"));
  EXPECT_EQ(e.out.all().size(), 1U);
}

}  // namespace
}  // namespace graphline::plan_testing
