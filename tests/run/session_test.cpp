#include "framework/run/session.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

pipeline_spec chain() {
  pipeline_spec spec;
  spec.name = {"chain"};
  spec.inputs.push_back({.name = {"x"}, .type = {shape{64}, dtype::int64}});
  spec.stages = {make_stage("a", "device_mix", {"x"}), make_stage("b", "cpu_mix", {"a"})};
  spec.run.frames = 6;
  spec.run.warmup = 1;
  return spec;
}

const stage_record& stage_named(const run_record& record, const std::string& name) {
  for (const auto& stage : record.stages) {
    if (stage.name == name) return stage;
  }
  throw std::out_of_range(name);
}

TEST(session, fills_only_the_columns_that_the_timing_method_has) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(chain(), registry), *dev);
  for (const auto& [word, method] : timing_method_words) {
    run_options options;
    options.timing = method;
    const run_record record = s.run(options);
    ASSERT_FALSE(record.failure);
    EXPECT_EQ(record.run.timing, method);
    ASSERT_EQ(record.frames.size(), 6U);
    const auto& device_stage = stage_named(record, "a");
    const auto& cpu_stage = stage_named(record, "b");
    const bool event = method == timing_method::event || method == timing_method::layers;
    const bool host = method == timing_method::host;
    EXPECT_EQ(device_stage.device.size(), event ? 6U : 0U) << word;
    EXPECT_EQ(device_stage.enqueued.size(), event || host ? 6U : 0U) << word;
    EXPECT_EQ(device_stage.synced.size(), method == timing_method::sync ? 6U : 0U) << word;
    EXPECT_EQ(device_stage.cpu.size(), 0U) << word;
    EXPECT_EQ(cpu_stage.cpu.size(), method == timing_method::none ? 0U : 6U) << word;
    EXPECT_EQ(cpu_stage.device.size(), 0U) << word;
  }
}

TEST(session, computes_the_same_under_every_timing_method) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(chain(), registry), *dev);
  std::vector<std::string> checksums;
  for (const auto& entry : timing_method_words) {
    run_options options;
    options.timing = entry.second;
    const run_record record = s.run(options);
    ASSERT_EQ(record.outputs.size(), 1U);
    EXPECT_EQ(record.outputs[0].tensor, "b");
    checksums.push_back(record.outputs[0].checksum);
  }
  for (const auto& checksum : checksums) EXPECT_EQ(checksum, checksums.front());
}

TEST(session, keeps_sixteen_bytes_per_sample) {
  EXPECT_EQ(sizeof(stamp_pair), 16U);
}

TEST(session, reports_peak_memory_and_asks_for_none_while_running) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(chain(), registry), *dev);
  const auto before = dev->usage();
  const run_record record = s.run();
  EXPECT_EQ(record.memory.allocations, before.allocations);
  EXPECT_GE(record.memory.device_peak_bytes, 2U * 64U * 8U);
}

TEST(session, tells_progress_of_both_batches) {
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(chain(), registry), *dev);
  bool warmup = false;
  bool measured = false;
  run_options options;
  options.on_progress = [&](const progress& p) {
    (p.warmup ? warmup : measured) = true;
    EXPECT_LE(p.done, p.total);
  };
  ASSERT_FALSE(s.run(options).failure);
  EXPECT_TRUE(warmup);
  EXPECT_TRUE(measured);
}

TEST(session, saves_inputs_and_outputs_as_numpy_files) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("graphline_session_" + std::to_string(::getpid()));
  const auto dev = open_host_device(1);
  const auto registry = make_registry();
  session s(plan_for_host(chain(), registry), *dev);
  ASSERT_FALSE(s.run().failure);
  s.save_tensors((folder / "deep").string());
  EXPECT_EQ(std::filesystem::file_size(folder / "deep" / "input.x.npy"), 128U + 64U * 8U);
  EXPECT_EQ(std::filesystem::file_size(folder / "deep" / "output.b.npy"), 128U + 64U * 8U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace graphline
