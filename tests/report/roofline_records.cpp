#include "tests/report/roofline_records.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/sample_records.hpp"
#include "tests/report/page_records.hpp"

namespace graphline::samples {

namespace {

ceiling_figure figure(ceiling what, double value, precision arithmetic = precision::float32) {
  const bool duration = unit_of(what) == unit::duration;
  return {what, arithmetic, value, value * (duration ? 1.1 : 0.97),
          value * (duration ? 0.95 : 1.02)};
}

cost_record cost_of(double flops, double bytes_read, double bytes_written,
                    precision arithmetic = precision::float32) {
  return {std::llround(flops), std::llround(bytes_read), std::llround(bytes_written), arithmetic};
}

calibration of_processor() {
  return {"2026-03-14T09:26:53Z",
          {figure(ceiling::read, 61.2e9), figure(ceiling::copy, 48.7e9),
           figure(ceiling::host_to_device_pinned, 11.4e9),
           figure(ceiling::device_to_host_pinned, 11.2e9), figure(ceiling::convolution, 112e9),
           figure(ceiling::matmul, 121e9), figure(ceiling::launch, 5'200),
           figure(ceiling::round_trip, 14'800)},
          {}};
}

void hold_two_models(run_record& record) {
  record.calibration = of_processor();
  record.stages[0].cost = cost_of(7.55e9, 27e6, 6.4e6);
  record.stages[2].cost = cost_of(8.0e6, 19.1e6 * 1.5, 12e3);
  if (record.stages[0].parts.size() != 2) return;
  record.stages[0].parts[0].cost = cost_of(5.9e9, 8e6, 3.2e6);
  record.stages[0].parts[1].cost = cost_of(1.65e9, 19e6, 3.2e6);
}

/// Frames of device stages in turn, then the CPU stage.
class gpu_run {
 public:
  explicit gpu_run(timing_method method) : method_(method) {
    record_.pipeline = "detector";
    record_.description = "A detector whose product waits for memory.";
    record_.parameters = {{"batch", "32"}};
    record_.run.timing = method;
    record_.run.frames = frames;
    record_.device.backend = "cuda";
    record_.device.name = "Example GPU";
    record_.device.memory_bytes = 80ULL << 30;
    record_.environment = {{"graphline", "0.1.0"}, {"date", "2026-09-30T12:00:00Z"}};
    record_.source = {"detector.yaml", "pipeline: detector\n"};
    record_.threads = {"main"};
  }

  stage_record& add(const char* name, const char* kind, nanoseconds time, cost_record cost) {
    stage_record& to = record_.stages.emplace_back();
    to.name = name;
    to.kind = kind;
    to.stream = "main";
    to.cost = cost;
    times_.push_back(time);
    return to;
  }

  run_record take() {
    nanoseconds clock = 1'000'000;
    for (std::int64_t f = 0; f < frames; ++f) {
      const auto begin = clock;
      for (std::size_t s = 0; s < record_.stages.size(); ++s) {
        const auto time = times_[s] + times_[s] / 200 * (f % 5);
        const auto launched = begin + static_cast<nanoseconds>(s) * 2'000;
        add_frame(record_.stages[s], launched, clock, time);
        clock += time + 2'000;
      }
      record_.frames.push_back({begin, begin, clock});
      clock += 5'000;
    }
    for (std::size_t s = 1; s < record_.stages.size(); ++s) {
      const bool cpu = record_.stages[s].on == side::cpu;
      record_.stages[s].waits = {
          {s - 1, cpu ? satisfied_by::completion : satisfied_by::stream_order}};
    }
    return std::move(record_);
  }

  run_record& record() { return record_; }

 private:
  static constexpr std::int64_t frames = 40;

  void add_frame(stage_record& to, nanoseconds launched, nanoseconds begin, nanoseconds time) {
    to.threads.push_back(0);
    if (to.on == side::cpu) {
      to.cpu.push_back({begin, begin + time});
      return;
    }
    to.enqueued.push_back({launched, launched + 2'000});
    to.device.push_back({begin + 2'000, begin + time});
    if (method_ != timing_method::layers) return;
    const auto parts = static_cast<nanoseconds>(to.parts.size());
    for (nanoseconds p = 0; p < parts; ++p) {
      auto& part = to.parts[static_cast<std::size_t>(p)];
      const auto from = begin + time * p / parts;
      part.device.push_back({from, from + time * (2 + p % 3) / (3 * parts)});
    }
  }

  timing_method method_;
  run_record record_;
  std::vector<nanoseconds> times_;
};

calibration of_gpu() {
  return {"2026-03-14T09:26:53Z",
          {figure(ceiling::read, 4.21e12), figure(ceiling::copy, 3.96e12),
           figure(ceiling::host_to_device_pinned, 55.3e9),
           figure(ceiling::device_to_host_pinned, 54.8e9),
           figure(ceiling::host_to_device_pageable, 9.1e9), figure(ceiling::convolution, 46e12),
           figure(ceiling::matmul, 51e12), figure(ceiling::matmul, 410e12, precision::tf32),
           figure(ceiling::convolution, 640e12, precision::float16),
           figure(ceiling::matmul, 735e12, precision::float16),
           figure(ceiling::matmul, 741e12, precision::bfloat16), figure(ceiling::launch, 2'500),
           figure(ceiling::event, 1'300), figure(ceiling::synchronize, 2'900),
           figure(ceiling::round_trip, 9'400)},
          {"driver was 570.1, is 580.2", "it is 200 days old"}};
}

run_record gpu(timing_method method, std::size_t layers) {
  gpu_run run(method);
  run.record().calibration = of_gpu();
  auto& upload = run.add("upload", "copy", 410'000, cost_of(0, 19.3e6, 19.3e6));
  upload.copy = true;
  auto& backbone = run.add("backbone", "network", 150'000 * static_cast<nanoseconds>(layers), {});
  backbone.cost = cost_of(0, 0, 0, precision::float16);
  for (std::size_t i = 0; i < layers; ++i) {
    part_record part;
    const bool pool = i % 6 == 5;
    part.name = std::to_string(i) + (pool ? ".max_pool2d" : ".conv2d+relu");
    part.choice = pool ? "Graphline kernel" : "cuDNN engine 8, workspace 2 MiB";
    const auto depth = static_cast<double>(i % 12);
    const auto flops = pool ? 0.2e9 : 9e9 * (1 + depth);
    part.cost = cost_of(flops, 160e6 * std::pow(0.8, depth), 90e6 * std::pow(0.75, depth),
                        precision::float16);
    *backbone.cost.flops += *part.cost.flops;
    *backbone.cost.bytes_read += *part.cost.bytes_read;
    *backbone.cost.bytes_written += *part.cost.bytes_written;
    backbone.parts.push_back(std::move(part));
  }
  run.add("product", "gemv", 3'900'000, cost_of(122'880'000, 246'988'800, 3'840'000));
  run.add("head", "network", 31'000, cost_of(6.1e6, 1.4e6, 0.1e6, precision::tf32));
  auto& boxes = run.add("boxes", "cpu.nms", 220'000, {});
  boxes.on = side::cpu;
  boxes.stream.clear();
  run.record().tensors = {
      {"image", {shape{32, 3, 224, 224}, dtype::float32}, side::cpu, {}, {0}},
      {"image on device", {shape{32, 3, 224, 224}, dtype::float32}, side::device, 0, {1}}};
  return run.take();
}

}  // namespace

roofline_record calibrated_two_models() {
  roofline_record record{two_models(timing_method::event, 60), two_models_in_parts(60)};
  record.stages.stages[0].parts = record.layers.stages[0].parts;
  for (auto& part : record.stages.stages[0].parts) part.device.clear();
  hold_two_models(record.stages);
  hold_two_models(record.layers);
  return record;
}

roofline_record calibrated_gpu(std::size_t layers) {
  return {gpu(timing_method::event, layers), gpu(timing_method::layers, layers)};
}

roofline_record calibrated_odd_names() {
  auto record = calibrated_two_models();
  const auto odd = odd_names();
  for (auto* run : {&record.stages, &record.layers}) {
    run->pipeline = odd.pipeline;
    run->description = odd.description;
    for (std::size_t s = 0; s < 3; ++s) run->stages[s].name = odd.stages[s].name;
    run->stages[0].parts[0].name = "0.<b>conv</b>\n+\xff";
    run->stages[0].parts[1].name = std::string(150, 'n');
  }
  record.stages.calibration->stale = {"<i>driver</i> was \"1\", is 2"};
  return record;
}

roofline_record uncalibrated() {
  auto record = calibrated_two_models();
  record.stages.calibration.reset();
  record.layers.calibration.reset();
  return record;
}

roofline_record calibrated_without_frames() {
  auto record = calibrated_two_models();
  for (auto* run : {&record.stages, &record.layers}) {
    auto empty = without_frames();
    empty.calibration = run->calibration;
    for (std::size_t s = 0; s < 3; ++s) empty.stages[s].cost = run->stages[s].cost;
    empty.run.timing = run->run.timing;
    *run = std::move(empty);
  }
  return record;
}

}  // namespace graphline::samples
