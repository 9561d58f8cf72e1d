// The pipelines that come with Graphline, on every device of this program. Tests on `cuda` are
// skipped where there is no GPU; `ctest -L gpu` and tools/gpu_check check a machine that has one.
// GRAPHLINE_PIPELINES names the folder where the source tree is missing, GRAPHLINE_SEED the seed of
// weights and inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/precision.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/run/execute/tensor_data.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "stages/builtin.hpp"
#include "tests/base/environment_guard.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/run/counted_new.hpp"
#ifdef GRAPHLINE_CUDA
#include "framework/device/cuda/cuda_device.hpp"
#endif
#ifndef GRAPHLINE_FAKE_CUDA
#define GRAPHLINE_FAKE_CUDA false
#endif

namespace graphline {
namespace {

namespace fs = std::filesystem;
using assignments = std::vector<std::pair<std::string, std::string>>;

std::string from_environment(const char* variable, std::string otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::move(otherwise) : value;
}

fs::path folder_of_pipelines() {
  return from_environment("GRAPHLINE_PIPELINES", GRAPHLINE_SOURCE_DIR "/pipelines");
}

/// Convolutions and linear layers of networks that have so many that trying plans takes long.
const std::map<std::string, int> deep = {{"mobilenet_v2", 53}, {"resnet50", 54}, {"vgg16", 16}};

const assignments few = {{"batch", "4"}};

/// Where the size for a GPU would leave little but waiting for `host`.
const std::map<std::string, assignments> smaller = {{"batching", {{"width", "1024"}}},
                                                    {"gemv", {{"batch", "60"}}},
                                                    {"one_model", few},
                                                    {"mobilenet_v2", few},
                                                    {"resnet50", few},
                                                    {"two_models", few},
                                                    {"vgg16", few}};

/// Stages left out so that what is compared is an output: those that only read it, and those whose
/// results depend on the side of a threshold on which a number is.
const std::map<std::string, std::set<std::string>> left_out = {
    {"detector", {"best", "found", "place", "cut", "normalize_cuts", "identify", "best_identity"}},
    {"cascade", {"unsure", "large", "best"}},
    {"fan_out", {"join"}},
    {"pyramid", {"best"}},
    {"ocr",
     {"locate", "cut", "normalize_cuts", "orient", "turn", "normalize_lines", "recognize", "choose",
      "decode"}},
};

/// The relative error that a precision may have against `host` in float32. Each product rounds its
/// operands to TF32 again, or sums in another order, and errors add up as independent ones do; the
/// bounds of the other precisions have room for every network here.
double tolerance(precision p, const std::string& pipeline) {
  const double depth = std::sqrt(deep.contains(pipeline) ? deep.at(pipeline) / 8.0 : 1);
  switch (p) {
    case precision::float32:
      return 1e-5 * depth;
    case precision::tf32:
      return 2e-3 * depth;
    case precision::float16:
      return 1e-2;
    case precision::bfloat16:
      return 4e-2;
  }
  return 0;
}

/// |values - reference| / |reference| in the Euclidean norm; NaN if either holds one.
double relative_error(const std::vector<float>& values, const std::vector<float>& reference) {
  if (values.size() != reference.size()) return NAN;
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = reference[i];
    difference += (values[i] - expected) * (values[i] - expected);
    size += expected * expected;
  }
  return std::sqrt(size == 0 ? difference : difference / size);
}

/// What a test is of.
struct subject {
  std::string device;
  std::string pipeline;
  precision arithmetic = precision::float32;

  friend std::ostream& operator<<(std::ostream& out, const subject& of) {
    return out << of.pipeline << " on " << of.device << " in " << to_word(of.arithmetic);
  }
};

const stage_registry& stages() {
  static const stage_registry all = builtin_stages();
  return all;
}

pipeline_spec read(const std::string& pipeline, const reading_options& options) {
  diagnostics found;
  const std::string file = (folder_of_pipelines() / (pipeline + ".yaml")).string();
  pipeline_spec spec = read_pipeline(read_source(file), options, found);
  found.throw_if_errors();
  return spec;
}

/// A parameter in every stage whose kind has it. Whether there is one.
bool set(pipeline_spec& spec, const std::string& key, const node& value) {
  bool any = false;
  for (stage_spec& stage : spec.stages) {
    const auto& known = stages().find(stage.kind.text)->parameters;
    if (std::ranges::find(known, key, &parameter::name) == known.end()) continue;
    auto members = stage.parameters.members();
    std::erase_if(members, [&](const node::member& member) { return member.key.text == key; });
    members.push_back({{key}, value});
    stage.parameters = node::mapping(std::move(members));
    any = true;
  }
  return any;
}

session session_of(const pipeline_spec& spec, device& on) {
  diagnostics found;
  plan planned = make_plan(spec, stages(), {.backend = on.properties().backend}, found);
  found.throw_if_errors();
  return {std::move(planned), on};
}

run_record run(session& s, const run_options& options) {
  run_record record = s.run(options);
  if (record.failure) throw run_error(*record.failure);
  return record;
}

/// Tests with a device, skipped if it or a model is missing.
class pipelines : public testing::TestWithParam<subject> {
 protected:
  void SetUp() override {
    try {
      device_ = device_list(backends()).open({.name = GetParam().device});
    } catch (const no_device_error& e) {
      GTEST_SKIP() << e.what();
    }
    for (const stage_spec& stage : spec().stages) {
      const node* const model = stage.parameters.find("model");
      if (model != nullptr && !fs::exists(folder_of_pipelines() / model->text())) {
        GTEST_SKIP() << "tools/setup/models downloads " << model->text();
      }
    }
  }

  device& on() const { return *device_; }
  bool on_gpu() const { return on().properties().backend == "cuda" && !GRAPHLINE_FAKE_CUDA; }

  /// The pipeline with the parameters for the device, without the stages that are left out.
  pipeline_spec spec(bool in_small = false) const {
    const std::string& name = GetParam().pipeline;
    reading_options options = {.backend = on_gpu() ? "cuda" : "host"};
    if (in_small && on_gpu() && smaller.contains(name)) options.set = smaller.at(name);
    if (GRAPHLINE_FAKE_CUDA && name == "fan_out") options.set = {{"side", "16"}};  // plain loops
    pipeline_spec spec = read(name, options);
    spec.run.seed = std::stoull(from_environment("GRAPHLINE_SEED", "1"));
    // How many requests arrive together is another number in each run.
    spec.run.arrival = arrival::closed;
    spec.run.rate.reset();
    spec.run.batch_frames = 1;
    std::erase_if(spec.stages, [&](const stage_spec& stage) {
      return left_out.contains(name) && left_out.at(name).contains(stage.name.text);
    });
    return spec;
  }

  /// The floating-point outputs of a short run.
  std::map<std::string, std::vector<float>> outputs_of(const pipeline_spec& spec,
                                                       device& where) const {
    session s = session_of(spec, where);
    const run_record record = run(s, {.frames = 2, .warmup = 1});
    s.save_tensors(folder_.path().string());
    std::map<std::string, std::vector<float>> found;
    for (const output_record& output : record.outputs) {
      // Of indices, which of two nearly equal classes comes first is no error.
      if (output.type.element != dtype::float32) continue;
      tensor_type type = output.type;
      if (output.rows) type.shape.set_rows(*output.rows);
      std::vector<float>& values = found[output.tensor];
      values.resize(static_cast<std::size_t>(type.shape.elements()));
      read_input({values.data(), type}, folder_ / ("output." + output.tensor + ".npy"));
    }
    return found;
  }

 private:
  static std::vector<backend> backends() {
#ifdef GRAPHLINE_CUDA
    return {cuda_backend(), host_backend()};
#else
    return {host_backend()};
#endif
  }

  const temporary_folder folder_;
  // One that no other process writes, so that a plan stays the same from run to run.
  const environment_guard cache_{"GRAPHLINE_CACHE", folder_.path().string()};
  std::unique_ptr<device> device_;
};

using outputs = pipelines;

TEST_P(outputs, are_those_of_host_in_float32) {
  const auto& [device, pipeline, arithmetic] = GetParam();
  pipeline_spec changed = spec(true);
  if (device == "cuda") set(changed, "precision", std::string(to_word(arithmetic)));
  if (arithmetic != precision::float32 || smaller.contains(pipeline)) set(changed, "tune", false);
  const auto found = outputs_of(changed, on());

  pipeline_spec reference = spec(true);
  reference.run.strategy = strategy::serial;
  reference.run.in_flight = 1;
  const auto host = open_host_device(usable_cores());
  const auto expected = outputs_of(reference, *host);
  EXPECT_FALSE(expected.empty());
  for (const auto& [tensor, values] : expected) {
    const auto own = found.find(tensor);
    ASSERT_NE(own, found.end()) << tensor;
    EXPECT_LE(relative_error(own->second, values), tolerance(arithmetic, pipeline)) << tensor;
  }
}

using checksums = pipelines;

TEST_P(checksums, are_the_same_with_every_strategy_and_graph_mode) {
  pipeline_spec changed = spec(true);
  if (deep.contains(GetParam().pipeline)) set(changed, "tune", false);
  std::map<std::string, std::vector<std::string>> settings_of;  // by their outputs' checksums
  const auto add = [&](strategy how, graph_mode graphs, std::int64_t in_flight) {
    changed.run.strategy = how;
    changed.run.graphs = graphs;
    changed.run.in_flight = how == strategy::serial ? 1 : in_flight;
    diagnostics found;
    make_plan(changed, stages(), {.backend = on().properties().backend}, found);
    if (found.has_errors()) return;  // these settings make no sense together
    session s = session_of(changed, on());
    std::string all;
    for (const output_record& output : run(s, {.frames = 4, .warmup = 1}).outputs) {
      all += output.checksum + " ";
    }
    settings_of[all].push_back(std::string(to_word(how)) + ", graphs " +
                               std::string(to_word(graphs)));
  };
  for (const auto& graphs : graph_mode_words) {
    for (const auto& how : strategy_words) add(how.second, graphs.second, spec().run.in_flight);
  }
  add(strategy::overlap, graph_mode::stage, 3);
  ASSERT_EQ(settings_of.size(), 1U) << testing::PrintToString(settings_of);
  EXPECT_GE(settings_of.begin()->second.size(), 6U);
}

using memory_of_frames = pipelines;

TEST_P(memory_of_frames, is_allocated_before_the_first_frame) {
  session s = session_of(spec(), on());
  run(s, {.frames = 1, .warmup = 2});
  EXPECT_EQ(run(s, {.frames = 12, .warmup = 2}).memory.allocations,
            run(s, {.frames = 2, .warmup = 2}).memory.allocations);
  if (!on_gpu()) return;  // oneDNN and the fake allocate in each frame
  const auto allocations_of = [&](timing_method method, std::int64_t frames) {
    const long before = counted_new::allocations;
    run(s, {.timing = method, .frames = frames, .warmup = 2});
    return counted_new::allocations - before;
  };
  for (const timing_method method : s.timing_methods()) {
    allocations_of(method, 110);  // starts all threads, whose times are read around the frames
    const long few = allocations_of(method, 10);
    // What is read of the machine around the frames differs by a text or two from run to run.
    EXPECT_LT(allocations_of(method, 110) - few, 100 / 10) << to_word(method);
  }
}

TEST(pictures, are_read_without_allocating) {
  pipeline_spec spec = read("camera", {.backend = "host"});
  spec.stages.resize(1);
  const auto host = open_host_device(1);
  session s = session_of(spec, *host);
  const auto allocations_of = [&](std::int64_t frames) {
    const long before = counted_new::allocations;
    run(s, {.frames = frames});
    return counted_new::allocations - before;
  };
  allocations_of(2);
  const long at_first = allocations_of(2);
  EXPECT_LT(allocations_of(102) - at_first, 50);
}

class time_of_frames : public pipelines {
 protected:
  void expect_it_adds_up(strategy how, graph_mode graphs, std::int64_t in_flight) const {
    pipeline_spec changed = spec();
    changed.run.strategy = how;
    changed.run.graphs = graphs;
    changed.run.in_flight = in_flight;
    session s = session_of(changed, on());
    const run_record record =
        run(s, {.timing = timing_method::event, .frames = on_gpu() ? 100 : 30});
    const auto summary = attribute(record);
    ASSERT_TRUE(summary && summary->bound);
    // The clocks' error may be in each of a device stage's two stamps.
    const auto stamps = 2 * std::ranges::count(record.stages, side::device, &stage_record::on);
    EXPECT_LE(summary->largest_residual, stamps * record.clock_error);
    EXPECT_LE(*summary->bound,
              summary->end_to_end.all + 2 * static_cast<double>(record.clock_error));
  }
};

TEST_P(time_of_frames, adds_up_under_async) {
  expect_it_adds_up(strategy::async, graph_mode::stage, 1);
}

TEST_P(time_of_frames, adds_up_under_overlap_with_two_frames_in_flight) {
  expect_it_adds_up(strategy::overlap, graph_mode::stage, 2);
}

using time_of_frame_graphs = time_of_frames;

TEST_P(time_of_frame_graphs, adds_up) {
  expect_it_adds_up(strategy::async, graph_mode::frame, 1);
}

TEST(relative_error, is_relative_to_the_reference_and_nan_stays_nan) {
  EXPECT_NEAR(relative_error({3.0F, 4.5F}, {3.0F, 4.0F}), 0.1, 1e-9);
  EXPECT_EQ(relative_error({0.0F, 0.25F}, {0.0F, 0.0F}), 0.25);
  EXPECT_TRUE(std::isnan(relative_error({NAN, 1.0F}, {1.0F, 1.0F})));
  EXPECT_TRUE(std::isnan(relative_error({1.0F}, {1.0F, 1.0F})));
  EXPECT_FALSE(relative_error({INFINITY}, {1.0F}) <= 1);
}

using names = std::vector<std::string>;

auto each_of(const std::string& device, const names& pipelines) {
  std::vector<subject> all;
  for (const std::string& name : pipelines) all.push_back({device, name});
  return testing::ValuesIn(all);
}

std::string name_of(const testing::TestParamInfo<subject>& info) {
  return info.param.pipeline + "_" + std::string(to_word(info.param.arithmetic));
}

#if !GRAPHLINE_FAKE_CUDA
const names on_host = {"camera", "six_small"};
const names decided_too = {"camera", "cascade", "detector", "six_small"};

INSTANTIATE_TEST_SUITE_P(host, outputs, each_of("host", on_host), name_of);
INSTANTIATE_TEST_SUITE_P(host, checksums, each_of("host", decided_too), name_of);
INSTANTIATE_TEST_SUITE_P(host, memory_of_frames, each_of("host", decided_too), name_of);
INSTANTIATE_TEST_SUITE_P(host, time_of_frames, each_of("host", decided_too), name_of);
INSTANTIATE_TEST_SUITE_P(host, time_of_frame_graphs, each_of("host", {"six_small"}), name_of);
#endif

#ifdef GRAPHLINE_CUDA
const names on_fake = {"fan_out", "six_small"};
const names for_memory = GRAPHLINE_FAKE_CUDA ? on_fake : names{"camera", "six_small", "two_models"};
const names for_time = GRAPHLINE_FAKE_CUDA ? on_fake : names{"camera", "fan_out", "two_models"};

/// All on a GPU.
names on_cuda() {
  if (GRAPHLINE_FAKE_CUDA) return on_fake;
  names found;
  for (const fs::path& file : fs::directory_iterator(folder_of_pipelines())) {
    if (file.extension() == ".yaml") found.push_back(file.stem());
  }
  std::ranges::sort(found);
  return found;
}

auto each_in_its_precisions(const names& pipelines) {
  std::vector<subject> all;
  for (const std::string& name : pipelines) {
    pipeline_spec spec = read(name, {.backend = "cuda"});
    for (const auto& [word, arithmetic] : precision_words) {
      if (arithmetic != precision::float32 && !set(spec, "precision", std::string(word))) continue;
      all.push_back({"cuda", name, arithmetic});
    }
  }
  return testing::ValuesIn(all);
}

INSTANTIATE_TEST_SUITE_P(cuda, outputs, each_in_its_precisions(on_cuda()), name_of);
INSTANTIATE_TEST_SUITE_P(cuda, checksums, each_of("cuda", on_cuda()), name_of);
INSTANTIATE_TEST_SUITE_P(cuda, memory_of_frames, each_of("cuda", for_memory), name_of);
INSTANTIATE_TEST_SUITE_P(cuda, time_of_frames, each_of("cuda", for_time), name_of);
INSTANTIATE_TEST_SUITE_P(cuda, time_of_frame_graphs, each_of("cuda", {"six_small"}), name_of);
#endif

}  // namespace
}  // namespace graphline
