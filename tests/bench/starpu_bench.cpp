// Makespans of task graphs in Graphline and in StarPU: the same stages, which spin for 1 to 5 ms,
// on two CPU workers. Graphline runs them with `strategy: overlap` and the policies `oldest_frame`
// and `critical_path`, StarPU with its schedulers `prio` (priorities: longest paths) and `dmdas`
// (the same, and exact times as performance models). Each graph has a first stage that all others
// depend on, so that StarPU knows the whole graph before it starts. A makespan is the time from the
// begin of the first stage to the end of the last, both stamped on the worker.
//
// Blocks of frames run in random order, each after a warm-up. Prints medians, and ratios of the
// medians of `critical_path` to StarPU's with 95 % intervals (bootstrap over blocks). Needs two
// idle cores and libstarpu-dev:
//
//   cmake --preset release -D GRAPHLINE_BENCH_STARPU=ON
//   cmake --build --preset release --target starpu_bench
//   STARPU_SILENT=1 build/release/tests/bench/starpu_bench [--blocks N] [--frames N]

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/builtin.hpp"
#include "stages/spinning.hpp"
#include "tests/bench/program.hpp"

namespace graphline {
namespace {

constexpr int workers = 2;
constexpr std::int64_t warmup = 3;

struct settings_given {
  int blocks = 15;
  std::int64_t frames = 10;
};

struct task {
  nanoseconds time;
  std::vector<std::size_t> after;  ///< earlier tasks
};

/// Tasks in topological order. All others depend on the first.
struct task_graph {
  std::string name;
  std::vector<task> tasks = {{1'000'000, {}}};

  std::size_t add(int milliseconds, std::vector<std::size_t> after) {
    tasks.push_back({nanoseconds{1'000'000} * milliseconds, std::move(after)});
    return tasks.size() - 1;
  }

  /// Longest path from the start of each task to the end of the graph.
  std::vector<nanoseconds> paths() const {
    std::vector<nanoseconds> longest(tasks.size());
    for (std::size_t t = tasks.size(); t-- > 0;) {
      longest[t] += tasks[t].time;
      for (const std::size_t a : tasks[t].after) longest[a] = std::max(longest[a], longest[t]);
    }
    return longest;
  }

  nanoseconds lower_bound() const {
    nanoseconds sum = 0;
    for (const task& t : tasks) sum += t.time;
    return std::max(paths()[0], tasks[0].time + (sum - tasks[0].time) / workers);
  }
};

/// Gaussian elimination of a matrix with six columns, as in Cosnard, Marrakchi, Robert and
/// Trystram 1988: a pivot task, then an update of each column to its right.
task_graph gaussian_elimination() {
  task_graph graph{"gauss"};
  constexpr std::size_t columns = 6;
  std::array<std::size_t, columns> last = {};  // of each column
  for (std::size_t k = 0; k + 1 < columns; ++k) {
    const int time = static_cast<int>(columns - 1 - k);
    last[k] = graph.add(time, {last[k]});
    for (std::size_t j = k + 1; j < columns; ++j) last[j] = graph.add(time, {last[k], last[j]});
  }
  return graph;
}

task_graph fork_join() {
  task_graph graph{"fork_join"};
  std::size_t joined = 0;
  for (int phase = 0; phase < 3; ++phase) {
    std::vector<std::size_t> branches;
    for (int branch = 0; branch < 7; ++branch) {
      branches.push_back(graph.add(1 + (branch + phase) % 4, {joined}));
    }
    joined = graph.add(1, branches);
  }
  return graph;
}

/// Five layers of six tasks that read one to three of the layer before.
task_graph random_layers() {
  task_graph graph{"layers"};
  std::mt19937 random(1);
  std::vector<std::size_t> before = {0};
  for (int layer = 0; layer < 5; ++layer) {
    std::vector<std::size_t> here;
    for (int i = 0; i < 6; ++i) {
      std::vector<std::size_t> after = before;
      std::shuffle(after.begin(), after.end(), random);
      after.resize(std::min<std::size_t>(after.size(), 1 + random() % 3));
      here.push_back(graph.add(static_cast<int>(1 + random() % 5), std::move(after)));
    }
    before = std::move(here);
  }
  return graph;
}

/// Random tasks, each read by one later task.
task_graph tree() {
  task_graph graph{"tree"};
  std::mt19937 random(2);
  constexpr std::size_t count = 24;
  std::vector<std::vector<std::size_t>> read_by(count);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    read_by[i + 1 + random() % std::min<std::size_t>(8, count - i - 1)].push_back(i + 1);
  }
  for (std::vector<std::size_t>& after : read_by) {
    if (after.empty()) after = {0};
    graph.add(static_cast<int>(1 + random() % 5), std::move(after));
  }
  return graph;
}

task_graph long_branch_last() {
  task_graph graph{"long_branch"};
  for (int i = 0; i < 6; ++i) graph.add(2, {0});
  std::size_t last = 0;
  for (int i = 0; i < 4; ++i) last = graph.add(3, {last});
  return graph;
}

/// Makespans of the frames of one block.
using block = std::vector<nanoseconds>;

class graphline_runs {
 public:
  graphline_runs(const task_graph& graph, const std::string& policy, std::int64_t frames)
      : session_(make_session(graph, policy, frames)) {}

  block run() {
    const run_record record = record_of(session_, {});
    block makespans;
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      nanoseconds end = 0;
      for (const stage_record& stage : record.stages) end = std::max(end, stage.cpu[f].end);
      makespans.push_back(end - record.stages[0].cpu[f].begin);
    }
    return makespans;
  }

 private:
  session make_session(const task_graph& graph, const std::string& policy, std::int64_t frames) {
    pipeline_spec spec;
    spec.name = {graph.name};
    for (const task& t : graph.tasks) {
      stage_spec& stage = spec.stages.emplace_back();
      stage.name = {fmt::format("t{}", spec.stages.size() - 1)};
      stage.kind = {"cpu.spin"};
      for (const std::size_t a : t.after) stage.after.push_back({fmt::format("t{}", a)});
      stage.parameters = node::mapping({{{"duration"}, fmt::format("{}ns", t.time)}});
    }
    spec.run.strategy = strategy::overlap;
    spec.run.policy = policy;
    spec.run.workers = workers;
    spec.run.frames = frames;
    spec.run.warmup = warmup;
    diagnostics found;
    plan p = make_plan(spec, registry_, {}, found);
    found.throw_if_errors();
    return session(std::move(p), *device_);
  }

  std::unique_ptr<graphline::device> device_ = open_host_device(1);
  stage_registry registry_ = builtin_stages();
  session session_;
};

/// A StarPU task's argument.
struct starpu_spin {
  nanoseconds time = 0;
  nanoseconds begin = 0;
  nanoseconds end = 0;
};

void run_spin(void** /*buffers*/, void* argument) {
  auto& spin = *static_cast<starpu_spin*>(argument);
  spin.begin = now();
  spin_cpu_time(spin.time);
  spin.end = now();
}

double microseconds_of(starpu_task* t, unsigned /*implementation*/) {
  return static_cast<double>(static_cast<const starpu_spin*>(t->cl_arg)->time) / 1000;
}

void check(int status, const char* call) {
  if (status != 0) throw run_error(fmt::format("{} returned {}", call, status));
}

nanoseconds starpu_frame(const task_graph& graph, starpu_codelet& kind) {
  const std::vector<nanoseconds> paths = graph.paths();
  std::vector<starpu_spin> spins(graph.tasks.size());
  std::vector<starpu_task*> tasks;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    spins[t].time = graph.tasks[t].time;
    starpu_task* made = tasks.emplace_back(starpu_task_create());
    made->cl = &kind;
    made->cl_arg = &spins[t];
    made->priority = static_cast<int>(paths[t] / 1000);
    std::vector<starpu_task*> after;
    for (const std::size_t a : graph.tasks[t].after) after.push_back(tasks[a]);
    if (!after.empty()) {
      starpu_task_declare_deps_array(made, static_cast<unsigned>(after.size()), after.data());
    }
  }
  for (std::size_t t = tasks.size(); t-- > 0;) check(starpu_task_submit(tasks[t]), "submit");
  check(starpu_task_wait_for_all(), "wait_for_all");
  return std::ranges::max(spins, {}, &starpu_spin::end).end - spins[0].begin;
}

/// StarPU's workers poll while they are idle, so they exist during its blocks only.
block starpu_block(const task_graph& graph, const char* scheduler, std::int64_t frames) {
  starpu_conf conf;
  check(starpu_conf_init(&conf), "conf_init");
  conf.sched_policy_name = scheduler;
  conf.ncpus = workers;
  conf.ncuda = 0;
  conf.nopencl = 0;
  check(starpu_init(&conf), "init");
  static starpu_perfmodel model;
  model.type = STARPU_COMMON;
  model.cost_function = microseconds_of;
  static starpu_codelet kind;
  kind.cpu_funcs[0] = run_spin;
  kind.model = &model;
  block makespans;
  for (std::int64_t f = -warmup; f < frames; ++f) {
    const nanoseconds makespan = starpu_frame(graph, kind);
    if (f >= 0) makespans.push_back(makespan);
  }
  starpu_shutdown();
  return makespans;
}

double median(const std::vector<block>& blocks) {
  block all;
  for (const block& b : blocks) all.insert(all.end(), b.begin(), b.end());
  const auto middle = all.begin() + std::ssize(all) / 2;
  std::ranges::nth_element(all, middle);
  return static_cast<double>(*middle);
}

std::string ratio(const std::vector<block>& ours, const std::vector<block>& theirs) {
  std::mt19937 random(1);
  const auto drawn = [&random](const std::vector<block>& from) {
    std::vector<block> blocks;
    while (blocks.size() < from.size()) blocks.push_back(from[random() % from.size()]);
    return blocks;
  };
  std::vector<double> ratios;
  for (int i = 0; i < 1000; ++i) ratios.push_back(median(drawn(ours)) / median(drawn(theirs)));
  std::ranges::sort(ratios);
  return fmt::format("{:.4f} ({:.4f} to {:.4f})", median(ours) / median(theirs), ratios[25],
                     ratios[974]);
}

void measure(const settings_given& given, const task_graph& graph) {
  graphline_runs by_age(graph, "oldest_frame", given.frames);
  graphline_runs by_path(graph, "critical_path", given.frames);
  const std::vector<std::pair<std::string, std::function<block()>>> ways = {
      {"oldest_frame", [&] { return by_age.run(); }},
      {"critical_path", [&] { return by_path.run(); }},
      {"prio", [&] { return starpu_block(graph, "prio", given.frames); }},
      {"dmdas", [&] { return starpu_block(graph, "dmdas", given.frames); }}};
  std::vector<std::size_t> turns;
  for (int i = 0; i < given.blocks; ++i) turns.insert(turns.end(), {0, 1, 2, 3});
  std::shuffle(turns.begin(), turns.end(), std::mt19937(1));
  std::map<std::string, std::vector<block>> seen;
  for (const std::size_t turn : turns) seen[ways[turn].first].push_back(ways[turn].second());
  fmt::print("{:<12}{:>8.2f}", graph.name, static_cast<double>(graph.lower_bound()) / 1e6);
  for (const auto& [name, run] : ways) fmt::print("{:>15.3f}", median(seen.at(name)) / 1e6);
  for (const char* scheduler : {"prio", "dmdas"}) {
    fmt::print("  {:>25}", ratio(seen.at("critical_path"), seen.at(scheduler)));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace graphline

int main(int argc, char** argv) {
  CLI::App program("Makespans of task graphs in Graphline and in StarPU");
  graphline::settings_given given;
  program.add_option("--blocks", given.blocks, "Of each way")->check(CLI::PositiveNumber);
  program.add_option("--frames", given.frames, "Of a block")->check(CLI::PositiveNumber);
  return graphline::run_program(program, argc, argv, [&] {
    using namespace graphline;
    fmt::print("{:<12}{:>8}{:>15}{:>15}{:>15}{:>15}  {:>25}  {:>25}\n", "ms", "bound",
               "oldest_frame", "critical_path", "prio", "dmdas", "critical_path / prio",
               "critical_path / dmdas");
    for (const task_graph& graph :
         {gaussian_elimination(), fork_join(), random_layers(), tree(), long_branch_last()}) {
      measure(given, graph);
    }
    return 0;
  });
}
