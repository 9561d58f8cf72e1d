// Graphline's own cost per frame: six empty CPU stages, a chain with one diamond
// (a -> b -> {c, d} -> e -> f), one frame at a time, compared with a hand-written oneTBB flow graph
// of the same shape in the same process, interleaved in random order. Prints medians. Beside them:
// the same chain with five of the stages `when` the first one says so, the same chain under other
// policies than the default, and the choice of a bucket.
//
//   frame_cost_bench [--frames N] [--repetitions N]

#include <fmt/format.h>
#include <oneapi/tbb/flow_graph.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/run/execute/slot.hpp"
#include "stages/builtin.hpp"
#include "tests/bench/program.hpp"

namespace graphline {
namespace {

constexpr std::array policies = {"fifo", "critical_path", "deadline", "random"};

struct settings_given {
  std::int64_t frames = 100'000;
  int repetitions = 15;
};

stage_spec empty_stage(const std::string& name, const std::vector<std::string>& after,
                       const std::string& when = "") {
  stage_spec stage;
  stage.when = {when};
  stage.name = {name};
  stage.kind = {"cpu.spin"};
  for (const auto& earlier : after) stage.after.push_back({earlier});
  stage.parameters = node::mapping({{{"duration"}, "0ns"}});
  return stage;
}

session make_session(device& d, const stage_registry& registry, strategy how, std::int64_t frames,
                     const std::string& when = "", const std::string& policy = "") {
  pipeline_spec spec;
  spec.name = {"six_empty_stages"};
  spec.stages = {empty_stage("a", {}),
                 empty_stage("b", {"a"}, when),
                 empty_stage("c", {"b"}, when),
                 empty_stage("d", {"b"}, when),
                 empty_stage("e", {"c", "d"}, when),
                 empty_stage("f", {"e"}, when)};
  if (!when.empty()) {
    spec.stages[0].kind = {"cpu.batch"};
    spec.stages[0].parameters = node::mapping({});
  }
  spec.run.strategy = how;
  spec.run.frames = frames;
  spec.run.warmup = 100;
  if (!policy.empty()) spec.run.policy = policy;
  if (policy == "deadline") spec.run.deadline = 1'000'000;
  diagnostics found;
  plan p = make_plan(spec, registry, {}, found);
  found.throw_if_errors();
  return session(std::move(p), d);
}

/// Nanoseconds per frame of a run, from the begin of its first frame to the end of its last.
double run_once(session& s, timing_method method) {
  const run_record record = record_of(s, {.timing = method});
  return static_cast<double>(record.frames.back().end - record.frames.front().begin) /
         static_cast<double>(record.frames.size());
}

/// Nanoseconds per choice of one of five buckets.
double choose_bucket(std::int64_t times) {
  std::int64_t rows = 1;
  bound_stage stage;
  stage.decision = std::make_unique<stage_decision>();
  stage.decision->rows = &rows;
  stage.decision->buckets = {1, 2, 4, 8, 16};
  stage.decision->capacity = 16;
  std::size_t sum = 0;
  const nanoseconds begin = now();
  for (std::int64_t i = 0; i < times; ++i) {
    rows = i % 17;
    stage.decide();
    sum += stage.chosen.variant;
  }
  const nanoseconds end = now();
  if (sum == 0) fmt::print("no bucket was chosen\n");
  return static_cast<double>(end - begin) / static_cast<double>(times);
}

/// Nanoseconds per frame of the flow graph.
double run_flow_graph(std::int64_t frames) {
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
  const auto run = [&](std::int64_t count) {
    const nanoseconds begin = now();
    for (std::int64_t i = 0; i < count; ++i) {
      a.try_put(flow::continue_msg());
      g.wait_for_all();
    }
    return static_cast<double>(now() - begin) / static_cast<double>(count);
  };
  run(100);
  return run(frames);
}

double read_clock(std::int64_t times) {
  const nanoseconds begin = now();
  nanoseconds last = begin;
  for (std::int64_t i = 0; i < times; ++i) last = now();
  return static_cast<double>(last - begin) / static_cast<double>(times);
}

void print(const std::map<std::string, std::vector<double>>& samples) {
  const auto median = [&](const std::string& name) {
    const auto& sorted = samples.at(name);
    return sorted[sorted.size() / 2];
  };
  fmt::print("{:<16}{:>10}{:>10}{:>10}\n", "ns a frame", "median", "min", "max");
  for (const auto& [name, sorted] : samples) {
    fmt::print("{:<16}{:>10.1f}{:>10.1f}{:>10.1f}\n", name, median(name), sorted.front(),
               sorted.back());
  }
  for (const char* timing : {"none", "event"}) {
    fmt::print("overlap, timing {:<5}, to the flow graph {:.2f}\n", timing,
               median(std::string("overlap_") + timing) / median("flow_graph"));
  }
  for (const char* policy : policies) {
    fmt::print("{}, timing none, to the default policy {:.2f}\n", policy,
               median(policy) / median("overlap_none"));
  }
}

void measure(const settings_given& given) {
  const auto on = open_host_device(1);
  const auto registry = builtin_stages();
  session overlap = make_session(*on, registry, strategy::overlap, given.frames);
  session async = make_session(*on, registry, strategy::async, given.frames);
  session async_when = make_session(*on, registry, strategy::async, given.frames, "a");
  std::vector<std::pair<std::string, std::function<double()>>> variants = {
      {"clock_read", [&] { return read_clock(given.frames); }},
      {"flow_graph", [&] { return run_flow_graph(given.frames); }},
      {"overlap_none", [&] { return run_once(overlap, timing_method::none); }},
      {"overlap_event", [&] { return run_once(overlap, timing_method::event); }},
      {"async_none", [&] { return run_once(async, timing_method::none); }},
      {"async_event", [&] { return run_once(async, timing_method::event); }},
      {"when_none", [&] { return run_once(async_when, timing_method::none); }},
      {"when_event", [&] { return run_once(async_when, timing_method::event); }},
      {"choose_bucket", [&] { return choose_bucket(given.frames); }}};
  std::deque<session> under_policies;
  for (const char* policy : policies) {
    session& under = under_policies.emplace_back(
        make_session(*on, registry, strategy::overlap, given.frames, "", policy));
    variants.emplace_back(policy, [&under] { return run_once(under, timing_method::none); });
  }
  std::vector<std::size_t> turns;
  for (int i = 0; i < given.repetitions; ++i) {
    for (std::size_t each = 0; each < variants.size(); ++each) turns.push_back(each);
  }
  std::shuffle(turns.begin(), turns.end(), std::mt19937(1));
  std::map<std::string, std::vector<double>> samples;
  for (const std::size_t turn : turns) {
    const auto& [name, run] = variants[turn];
    samples[name].push_back(run());
  }
  for (auto& [name, all] : samples) std::ranges::sort(all);
  print(samples);
}

}  // namespace
}  // namespace graphline

int main(int argc, char** argv) {
  CLI::App program("What Graphline itself costs per frame");
  graphline::settings_given given;
  program.add_option("--frames", given.frames, "Of a repetition")->check(CLI::PositiveNumber);
  program.add_option("--repetitions", given.repetitions, "Of each")->check(CLI::PositiveNumber);
  return graphline::run_program(program, argc, argv, [&] {
    graphline::measure(given);
    return 0;
  });
}
