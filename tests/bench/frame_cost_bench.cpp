// What Graphline itself costs per frame: six empty CPU stages, a chain with one diamond
// (a -> b -> {c, d} -> e -> f), one frame at a time, beside a hand-written oneTBB flow graph of the
// same shape in the same process. The ratios are of medians of interleaved repetitions.
//
//   frame_cost_bench [--frames=N] [--benchmark_... as Google Benchmark has them]

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/flow_graph.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/session.hpp"
#include "stages/builtin.hpp"
#include "tests/bench/command_line.hpp"

namespace graphline {
namespace {

std::int64_t frames_per_run = 100'000;

stage_spec empty_stage(const std::string& name, const std::vector<std::string>& after) {
  stage_spec stage;
  stage.name = {name};
  stage.kind = {"cpu.spin"};
  for (const auto& earlier : after) stage.after.push_back({earlier});
  stage.parameters = node::mapping({{{"duration"}, "0ns"}});
  return stage;
}

session make_session(device& d, const stage_registry& registry, strategy how) {
  pipeline_spec spec;
  spec.name = {"six_empty_stages"};
  spec.stages = {empty_stage("a", {}),    empty_stage("b", {"a"}),      empty_stage("c", {"b"}),
                 empty_stage("d", {"b"}), empty_stage("e", {"c", "d"}), empty_stage("f", {"e"})};
  spec.run.strategy = how;
  spec.run.frames = frames_per_run;
  spec.run.warmup = 100;
  diagnostics found;
  plan p = make_plan(spec, registry, {}, found);
  found.throw_if_errors();
  return session(std::move(p), d);
}

/// Seconds per frame of one run, from its first frame's begin to its last one's end.
double run_once(session& s, timing_method method) {
  run_options options;
  options.timing = method;
  const run_record record = s.run(options);
  if (record.failure) {
    fmt::print(stderr, "error: {}\n", *record.failure);
    std::exit(1);
  }
  return static_cast<double>(record.frames.back().end - record.frames.front().begin) * 1e-9 /
         static_cast<double>(record.frames.size());
}

void graphline_frame(benchmark::State& state, strategy how, timing_method method) {
  const auto dev = open_host_device(1);
  const auto registry = builtin_stages();
  session s = make_session(*dev, registry, how);
  for (auto _ : state) state.SetIterationTime(run_once(s, method));
}

void flow_graph_frame(benchmark::State& state) {
  namespace flow = oneapi::tbb::flow;
  using node_type = flow::continue_node<flow::continue_msg>;
  flow::graph g;
  const auto empty = [](const flow::continue_msg&) {};
  node_type a(g, empty), b(g, empty), c(g, empty), d(g, empty), e(g, empty), f(g, empty);
  flow::make_edge(a, b);
  flow::make_edge(b, c);
  flow::make_edge(b, d);
  flow::make_edge(c, e);
  flow::make_edge(d, e);
  flow::make_edge(e, f);
  const auto frame = [&] {
    a.try_put(flow::continue_msg());
    g.wait_for_all();
  };
  for (int i = 0; i < 100; ++i) frame();
  for (auto _ : state) {
    const nanoseconds begin = now();
    for (std::int64_t i = 0; i < frames_per_run; ++i) frame();
    state.SetIterationTime(static_cast<double>(now() - begin) * 1e-9 /
                           static_cast<double>(frames_per_run));
  }
}

void clock_read(benchmark::State& state) {
  for (auto _ : state) {
    const nanoseconds begin = now();
    nanoseconds last = begin;
    for (std::int64_t i = 0; i < frames_per_run; ++i) benchmark::DoNotOptimize(last = now());
    state.SetIterationTime(static_cast<double>(last - begin) * 1e-9 /
                           static_cast<double>(frames_per_run));
  }
}

class cost_reporter final : public sample_reporter {
  void print() const override {
    fmt::print("{:<16}{:>10}{:>10}{:>10}\n", "ns a frame", "median", "min", "max");
    for (const auto& [name, seconds] : samples()) {
      fmt::print("{:<16}{:>10.1f}{:>10.1f}{:>10.1f}\n", name, median(name), seconds.front() * 1e9,
                 seconds.back() * 1e9);
    }
    const double flow = median("flow_graph");
    const double clock = median("clock_read");
    const auto per_stage = [&](const char* name, int clock_reads) {
      return (median(name) - clock_reads * clock) / 6.0;
    };
    fmt::print("\noverlap, timing none,  to the flow graph             {:8.2f}\n",
               median("overlap_none") / flow);
    fmt::print("overlap, timing event, to the flow graph             {:8.2f}\n",
               median("overlap_event") / flow);
    fmt::print("async, timing none,  a stage beyond the clock reads  {:8.1f} ns\n",
               per_stage("async_none", 2));
    fmt::print("async, timing event, a stage beyond the clock reads  {:8.1f} ns\n",
               per_stage("async_event", 2 + 2 * 6));
  }

  /// Nanoseconds.
  double median(const std::string& name) const {
    const std::vector<double>& seconds = samples().at(name);
    return seconds[seconds.size() / 2] * 1e9;
  }
};

void add(const char* name, const std::function<void(benchmark::State&)>& body) {
  benchmark::RegisterBenchmark(name, body)
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(15)
      ->Unit(benchmark::kNanosecond);
}

}  // namespace
}  // namespace graphline

int main(int argc, char** argv) {
  using namespace graphline;
  if (!read_command_line(argc, argv, "--frames=", frames_per_run)) return 2;

  add("clock_read", clock_read);
  add("flow_graph", flow_graph_frame);
  const auto graphline = [](strategy how, timing_method method) {
    return [how, method](benchmark::State& state) { graphline_frame(state, how, method); };
  };
  add("overlap_none", graphline(strategy::overlap, timing_method::none));
  add("overlap_event", graphline(strategy::overlap, timing_method::event));
  add("async_none", graphline(strategy::async, timing_method::none));
  add("async_event", graphline(strategy::async, timing_method::event));

  cost_reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
