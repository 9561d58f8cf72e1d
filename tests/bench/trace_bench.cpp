// How fast a trace is written: a run of six device stages, each with its launch and an edge to the
// next, as `graphline run pipelines/six_small.yaml --trace FILE` makes it.
//
//   trace_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstddef>

#include "framework/record/run_record.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

constexpr nanoseconds us = 1'000;

run_record six_stages(std::size_t frames) {
  run_record record;
  record.pipeline = "six_small";
  record.run.timing = timing_method::event;
  record.threads = {"main"};
  for (std::size_t i = 0; i < 6; ++i) {
    stage_record stage;
    stage.name = fmt::format("stage_{}", i);
    stage.kind = "network";
    stage.stream = "stream 0";
    if (i > 0) stage.waits = {{i - 1, satisfied_by::stream_order}};
    stage.threads.assign(frames, 0);
    record.stages.push_back(std::move(stage));
  }
  nanoseconds now = 1'000 * us;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const nanoseconds begin = now;
    for (auto& stage : record.stages) {
      stage.enqueued.push_back({now, now + 3'217});
      stage.device.push_back({now + 5'003, now + 15'119});
      now += 16 * us;
    }
    record.frames.push_back({begin, begin, now});
    now += 2 * us;
  }
  return record;
}

void trace_of_six_stages(benchmark::State& state) {
  const auto frames = static_cast<std::size_t>(state.range(0));
  const auto record = six_stages(frames);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto text = trace_json(record);
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(frames) * state.iterations());
  state.counters["bytes/frame"] = static_cast<double>(bytes) / static_cast<double>(frames);
}
BENCHMARK(trace_of_six_stages)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graphline

BENCHMARK_MAIN();
