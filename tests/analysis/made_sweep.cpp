#include "tests/analysis/made_sweep.hpp"

#include "tests/analysis/made_experiments.hpp"

namespace graphline::samples {

namespace {

ceiling_figure figure_of(ceiling what, double value) {
  return {.what = what, .value = value, .worst = 0.9 * value, .best = 1.05 * value};
}

/// Reduces the run to one device stage with this cost.
void make_convolution(run_record& run, int kernel, std::int64_t flops) {
  run.pipeline = "conv";
  run.description = "One convolution.";
  run.parameters = {{"size", "48"}, {"kernel", std::to_string(kernel)}};
  run.stages.resize(1);
  run.stages.front().name = "conv";
  run.stages.front().cost = {
      .flops = flops, .bytes_read = 600'000 + 16'384 * kernel * kernel, .bytes_written = 600'000};
  run.tensors.clear();
  run.outputs.front().checksum = "000000000000000" + std::to_string(kernel % 10);
}

}  // namespace

experiment_record made_sweep() {
  std::vector<made_configuration> all;
  for (const int kernel : {1, 3, 5, 7, 9, 11}) {
    const std::int64_t flops = std::int64_t{2} * 64 * 64 * 48 * 48 * kernel * kernel;
    frame_times times;
    times.backbone = 160'000 + flops * 6 / 1000;
    times.end_to_end = times.backbone + 50'000;
    all.push_back(made_of({{"kernel", std::to_string(kernel)}}, times));
    all.back().change = [=](run_record& run) { make_convolution(run, kernel, flops); };
  }
  return made_experiment("kernel_size", all, 6);
}

calibration laptop_calibration() {
  return {.date = "2026-11-22T12:00:00Z",
          .ceilings = {figure_of(ceiling::read, 10e9), figure_of(ceiling::copy, 9e9),
                       figure_of(ceiling::convolution, 200e9), figure_of(ceiling::matmul, 180e9)},
          .stale = {}};
}

}  // namespace graphline::samples
