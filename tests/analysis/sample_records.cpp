#include "tests/analysis/sample_records.hpp"

#include <cmath>
#include <utility>

#include "framework/base/random.hpp"

namespace graphline::samples {

double wobble(std::uint64_t a, std::uint64_t b) {
  return static_cast<double>(mix_seed(a, b) >> 11) * 0x1p-52 - 1;
}

nanoseconds scaled(nanoseconds time, double factor) {
  return std::llround(static_cast<double>(time) * factor);
}

namespace {

stage_record stage(const char* name, const char* kind, side on, const char* stream) {
  stage_record result;
  result.name = name;
  result.kind = kind;
  result.on = on;
  result.stream = stream;
  return result;
}

/// Adds the stamps of a stage that is launched at `launched` for `launch` and executes from `begin`
/// for `length`.
void add_device_times(stage_record& to, timing_method method, nanoseconds launched,
                      nanoseconds launch, nanoseconds begin, nanoseconds length) {
  const bool events = method == timing_method::event || method == timing_method::layers;
  if (method == timing_method::host || events) {
    to.enqueued.push_back({launched, launched + launch});
  }
  if (events) to.device.push_back({begin, begin + length});
  if (method == timing_method::sync) to.synced.push_back({begin, begin + length});
}

}  // namespace

run_record run_of(timing_method method, const std::vector<frame_times>& frames) {
  run_record record;
  record.pipeline = "two_models";
  record.description = "Two networks with CPU work between them.";
  record.parameters = {{"batch", "1"}, {"side", "112"}};
  record.run.timing = method;
  record.run.frames = static_cast<std::int64_t>(frames.size());
  record.device.backend = "host";
  record.device.name = "Example CPU at 2.1 GHz";
  record.device.memory_bytes = 8ULL << 30;
  record.device.compute_threads = 1;
  record.device.priority_levels = 3;
  record.device.details = {{"arithmetic", "oneDNN 2.6.3"}};
  record.environment = {{"graphline", "0.1.0"}, {"system", "Linux 6.1"}};
  record.memory = {.device_bytes = 24 << 20,
                   .device_peak_bytes = 36 << 20,
                   .pinned_bytes = 1536 << 10,
                   .pinned_peak_bytes = 1536 << 10,
                   .allocations = 7};
  record.clock_error = 80;
  output_record score;
  score.tensor = "score";
  score.type.shape = {1, 1};
  score.checksum = "00c0ffee00c0ffee";
  score.values = {0.25};
  record.outputs.push_back(std::move(score));
  record.stages = {stage("backbone", "network", side::device, "main"),
                   stage("noise", "cpu.random_normal", side::cpu, ""),
                   stage("head", "network", side::device, "main")};
  record.stages[2].waits = {{0, satisfied_by::stream_order}};
  record.tensors = {
      {"image", {shape{1, 3, 112, 112}, dtype::float32}, side::device, std::nullopt, {0}},
      {"features", {shape{1, 1024, 28, 28}, dtype::float32}, side::device, 0, {2}},
      {"noise", {shape{1, 3, 512, 512}, dtype::float32}, side::cpu, 1, {}},
      {"score", {shape{1, 1}, dtype::float32}, side::device, 2, {}}};
  record.source = {"two_models.yaml", "pipeline: two_models\nstages: []  # as in the sources\n"};
  record.threads = {"main"};
  if (method != timing_method::none) {
    for (auto& stage : record.stages) stage.threads.assign(frames.size(), 0);
  }
  nanoseconds clock = 1'000'000;
  for (const auto& times : frames) {
    record.frames.push_back({clock, clock, clock + times.end_to_end});
    add_device_times(record.stages[0], method, clock, times.launch, clock, times.backbone);
    const auto noise_end = clock + times.launch + times.noise;
    if (method != timing_method::none) {
      record.stages[1].cpu.push_back({clock + times.launch, noise_end});
    }
    add_device_times(record.stages[2], method, noise_end, times.launch / 2,
                     clock + times.end_to_end - times.head, times.head);
    clock += times.end_to_end + 5'000;
  }
  return record;
}

run_record two_models(timing_method method, std::size_t count) {
  std::vector<frame_times> frames(count);
  for (std::size_t i = 0; i < count; ++i) {
    frame_times& f = frames[i];
    f.end_to_end = scaled(f.end_to_end, 1 + 0.02 * wobble(1, i));
    f.backbone = scaled(f.backbone, 1 + 0.01 * wobble(2, i));
    f.noise = scaled(f.noise, 1 + 0.05 * wobble(3, i));
    f.head = scaled(f.head, 1 + 0.05 * wobble(4, i));
    f.launch = scaled(f.launch, 1 + 0.2 * wobble(5, i));
  }
  return run_of(method, frames);
}

run_record two_models_in_parts(std::size_t count) {
  auto record = two_models(timing_method::layers, count);
  auto& stage = record.stages.front();
  stage.parts = {{"0.conv2d+1.gelu", "cuDNN engine 8, workspace 2 MiB", {}}, {"2.linear", "", {}}};
  for (const auto& whole : stage.device) {
    const auto between = whole.begin + whole.length() / 4 * 3;
    stage.parts[0].device.push_back({whole.begin, between});
    stage.parts[1].device.push_back({between, whole.end});
  }
  return record;
}

run_record two_models_on_schedule(std::size_t count) {
  auto record = two_models(timing_method::event, count);
  record.run.frames += 2;
  record.run.arrival = arrival::constant;
  record.run.rate = 13.5;
  record.run.queue = 2;
  record.run.when_full = queue_policy::drop_newest;
  record.run.deadline = 80'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    record.frames[i].due -= scaled(20'000'000, std::abs(wobble(8, i)));
  }
  record.load.dropped = {record.frames[1].begin - 30'000'000,
                         record.frames.back().begin - 30'000'000};
  record.load.found_full = 2;
  record.load.longest_queue = 2;
  record.processor_time = 5'200'000'000;
  return record;
}

run_record overloaded_two_models(std::size_t count) {
  auto record = run_of(timing_method::event, std::vector<frame_times>(count));
  record.run.arrival = arrival::constant;
  record.run.rate = 20;
  for (std::size_t i = 0; i < count; ++i) {
    record.frames[i].due = record.frames[0].begin + static_cast<nanoseconds>(i) * 50'000'000;
  }
  return record;
}

void add_graphs(run_record& to) {
  for (const char* name : {"backbone", "head"}) {
    graph_record graph;
    graph.name = name;
    graph.nodes = {{"copy 600 KiB", "copy", {}}};
    for (std::size_t i = 0; i < 6; ++i) graph.nodes.push_back({"layer", "operation", {i}});
    graph.operations = 4;
    graph.executables = 1;
    graph.capture = 400'000;
    graph.instantiate = 600'000;
    graph.first_launch = 1'050'000;
    graph.later_launch = {1'001'000, 1'000'000, 999'000};
    graph.launch = {2'600, 2'500, 2'500, 2'400};
    graph.eager = {9'400, 9'500, 9'600, 9'500};
    to.graphs.push_back(std::move(graph));
  }
}

void add_operations(run_record& to) {
  auto& stage = to.stages.front();
  stage.traced_runs = 10;
  stage.operations = {
      {"implicit_gemm_with_a_rather_long_name<float, 128, 64>", "0.conv2d+1.gelu", {}, {}},
      {"gelu", "0.conv2d+1.gelu", {}, {}}};
  for (nanoseconds run = 0; run < 10; ++run) {
    auto& gemm = stage.operations[0];
    gemm.calls.insert(gemm.calls.end(), {40'000'000 + run, 20'000'000 - run});
    gemm.together.push_back(60'000'000);
    stage.operations[1].calls.push_back(9'000'000);
    stage.operations[1].together.push_back(9'000'000);
  }
}

}  // namespace graphline::samples
