#include "framework/run/pipeline/run_pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/error.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* text_of_pipeline = R"(
pipeline: three_frames
params:
  size: {host: 8, cuda: 16}
inputs:
  values: {shape: [1, $size]}
stages:
  - {name: net, kind: network, reads: values, layers: [relu]}
run: {frames: 3, warmup: 1, threads: 1}
)";

source_text pipeline_text() {
  return {"three_frames.yaml", text_of_pipeline};
}

planned_pipeline plan_on(const std::string& device, plan_use use,
                         const source_text& text = pipeline_text()) {
  static stage_registry stages = builtin_stages();  // outlives the plan
  return plan_pipeline(text, stages, {.device = device}, use);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const input_error& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(run_pipeline, takes_a_file_its_text_and_a_spec) {
  const temporary_folder folder;
  const std::string path = folder.write("three_frames.yaml", text_of_pipeline).string();
  diagnostics found;
  const auto spec = pipeline_source(pipeline_text()).read({}, found);
  for (const pipeline_source& from :
       {pipeline_source(path), pipeline_source(pipeline_text()), pipeline_source(spec)}) {
    const run_record record = run_pipeline(from, {.device = "host"});
    EXPECT_EQ(record.pipeline, "three_frames");
    EXPECT_EQ(record.device.backend, "host");
    EXPECT_EQ(record.failure, std::nullopt);
    EXPECT_THAT(record.frames, SizeIs(3));
  }
}

TEST(run_pipeline, sets_parameters_adjusts_settings_and_passes_run_options_on) {
  const auto record = run_pipeline(
      pipeline_text(),
      {.device = "host",
       .set = {{"size", "5"}},
       .adjust = [](pipeline_spec& spec, diagnostics&) { spec.run.strategy = strategy::serial; }},
      {.frames = 2});
  EXPECT_THAT(record.frames, SizeIs(2));
  EXPECT_EQ(record.run.strategy, strategy::serial);
  ASSERT_THAT(record.outputs, SizeIs(1));
  EXPECT_EQ(record.outputs.front().type.shape, (shape{1, 5}));
}

TEST(run_pipeline, records_warnings_on_the_pipeline_with_their_place) {
  const auto adjust = [](pipeline_spec&, diagnostics& out) {
    out.warning({std::make_shared<source_text>("warned.yaml", "a\nb\n"), 2, 1}, "odd");
  };
  const auto record = run_pipeline(pipeline_text(), {.device = "host", .adjust = adjust});
  EXPECT_EQ(record.warnings.at(0), "warned.yaml:2:1: odd");
}

TEST(plan_pipeline, reports_everything_wrong_with_the_pipeline_at_once) {
  const source_text wrong("wrong.yaml",
                          "pipeline: p\nstages:\n  - {name: a, kind: no.such}\n"
                          "run: {frames: none}\n");
  EXPECT_THAT(refusal([&] { run_pipeline(wrong, {.device = "host"}); }),
              AllOf(HasSubstr("wrong.yaml:3:"), HasSubstr("wrong.yaml:4:")));
}

TEST(plan_pipeline, reports_what_is_wrong_with_the_pipeline_before_a_missing_device) {
  const source_text wrong("wrong.yaml", "pipeline: p\nstages:\n  - {name: a, kind: no.such}\n");
  EXPECT_THAT(refusal([&] { plan_on("cuda:99", plan_use::run, wrong); }), HasSubstr("wrong.yaml"));
  EXPECT_THROW(plan_on("cuda:99", plan_use::run), no_device_error);
}

TEST(plan_pipeline, inspects_for_a_device_that_this_program_does_not_support) {
  const auto result = plan_on("cuda:99", plan_use::inspect);
  EXPECT_EQ(result.machine.backend, "");
  EXPECT_EQ(result.planned.tensors.at(0).type.shape, (shape{1, 16}));
}

TEST(plan_pipeline, checks_for_a_device_of_this_build_that_is_not_there) {
  const auto& backends = builtin_devices().backends();
  if (std::ranges::find(backends, "cuda", &backend::name) == backends.end()) {
    EXPECT_THROW(plan_on("cuda:99", plan_use::check), no_device_error);
    return;
  }
  const auto result = plan_on("cuda:99", plan_use::check);
  EXPECT_EQ(result.machine.backend, "cuda");
  EXPECT_FALSE(result.machine.present);
}

TEST(plan_pipeline, sets_no_parameter_of_a_spec) {
  diagnostics found;
  const auto spec = pipeline_source(pipeline_text()).read({}, found);
  EXPECT_THAT(refusal([&] {
                run_pipeline(spec, {.device = "host", .set = {{"size", "5"}}});
              }),
              HasSubstr("cannot set 'size' to '5': a pipeline made in C++ has no params"));
}

TEST(plan_pipeline, loads_no_plugin_that_is_refused) {
  const source_text with_plugin("plugin.yaml",
                                std::string(text_of_pipeline) + "plugins: [no_such_plugin.so]\n");
  EXPECT_THAT(refusal([&] {
                run_pipeline(with_plugin, {.device = "host", .plugins = plugin_use::refuse});
              }),
              AllOf(HasSubstr("plugin.yaml:"), Not(HasSubstr("unknown kind"))));
}

}  // namespace
}  // namespace graphline
