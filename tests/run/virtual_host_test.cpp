#include "framework/run/execute/virtual_host.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <vector>

#include "framework/plan/planner.hpp"
#include "framework/run/execute/frame_executor.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "tests/run/frame_scheduling.hpp"
#include "tests/run/list_scheduling.hpp"
#include "tests/run/virtual_run.hpp"

namespace graphline {
namespace {

using namespace testing_plans;

TEST(virtual_host, runs_overlap_as_list_scheduling_says_to_the_nanosecond) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const std::size_t in_flight : {1, 2, 4}) {
      expect_same<ready_executor>(draw(seed, strategy::overlap, in_flight), seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(virtual_host, runs_one_host_thread_as_its_steps_say_to_the_nanosecond) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const auto how : {strategy::serial, strategy::async}) {
      // Short ones often end at the same moment.
      for (const std::size_t longest : {3, 1'000'000}) {
        expect_same<sequential_executor>(draw(seed, how, 1, longest), seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(virtual_host, runs_frames_that_are_one_graph_as_their_nodes_say_to_the_nanosecond) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const std::size_t in_flight : {1, 2, 3}) {
      for (const auto how : {strategy::async, strategy::overlap}) {
        // Short ones often end at the same moment.
        const std::size_t longest = seed % 2 == 0 ? 3 : 1'000'000;
        const drawn_run run = draw_of_graphs(seed, how, in_flight, longest);
        expect_same<frame_executor, frame_scheduling>(run, seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// A device stage of 1000 ns, whose result a CPU stage of 100 ns waits for, then a device stage of
/// 10 ns behind that.
drawn_run three_in_a_row(strategy how) {
  drawn_run made;
  made.planned = plan_of({side::device, side::cpu, side::device}, {{0, 1}, {1, 2}}, streams);
  made.times = {{1000, 100, 10}};
  finish(made.planned, how, graph_mode::stage, 1);
  return made;
}

/// The same stages as one graph.
drawn_run three_in_a_graph(of_frames<nanoseconds> times, std::size_t in_flight) {
  drawn_run made;
  made.planned = plan_of({side::device, side::cpu, side::device}, {{0, 1}, {1, 2}}, streams);
  made.times = std::move(times);
  finish(made.planned, strategy::async, graph_mode::frame, in_flight);
  random_source random(0);
  make_nodes(made.planned, 1, random);
  return made;
}

TEST(virtual_host, takes_the_time_of_each_overhead) {
  const overheads of{.issue = 7, .wake_up = 20, .completion_delay = 300};
  // One host thread: it issues, sees the end late, runs the CPU stage itself, issues, sees the end.
  const outcome async = executed<sequential_executor>(three_in_a_row(strategy::async), of);
  EXPECT_EQ(async.stages[0][0].end, 1007);
  EXPECT_EQ(async.stages[0][1], (span{1307, 1407}));
  EXPECT_EQ(async.stages[0][2].end, 1424);
  EXPECT_EQ(async.frames[0], (span{0, 1724}));
  // The watcher sees the end late and wakes up a worker, which issues the last stage.
  const outcome overlap = executed<ready_executor>(three_in_a_row(strategy::overlap), of);
  EXPECT_EQ(overlap.stages[0][0].end, 1007);
  EXPECT_EQ(overlap.stages[0][1], (span{1327, 1427}));
  EXPECT_EQ(overlap.stages[0][2].end, 1444);
  EXPECT_EQ(overlap.frames[0], (span{0, 1744}));
}

TEST(virtual_host, takes_the_overheads_of_a_frame_graph_once_a_frame) {
  const drawn_run run = three_in_a_graph({{1000, 100, 10}, {1000, 100, 10}}, 2);
  const overheads of{.issue = 7, .wake_up = 20, .completion_delay = 300};
  const run_record record = run_in_virtual_time<frame_executor>(run, of).record;
  ASSERT_EQ(record.frames.size(), 2U);
  const auto expect_span = [](const auto& seen, nanoseconds begin, nanoseconds end) {
    EXPECT_EQ(seen.begin, begin);
    EXPECT_EQ(seen.end, end);
  };
  expect_span(record.launches[0], 0, 7);
  expect_span(record.launches[1], 7, 14);
  expect_span(record.stages[1].cpu[0], 1007, 1107);
  EXPECT_EQ(record.stages[2].device[0].end, 1117);
  expect_span(record.frames[0], 0, 1417);
  // The second graph begins with the end of the first one, which the host sees late.
  expect_span(record.stages[1].cpu[1], 2117, 2217);
  EXPECT_EQ(record.stages[2].device[1].end, 2227);
  expect_span(record.frames[1], 7, 2527);
  EXPECT_THAT(record.threads, testing::ElementsAre("main", "host functions"));
}

/// A frame has ended when its last stage has, however many are in flight.
TEST(virtual_host, ends_frames_of_one_cpu_stage_with_it) {
  constexpr nanoseconds stage = 10'000'000;
  for (const std::size_t in_flight : {1, 2, 4}) {
    for (const auto how : {strategy::async, strategy::overlap}) {
      drawn_run run;
      run.planned = plan_of({side::cpu}, {}, streams);
      run.times.assign(20, {stage});
      finish(run.planned, how, graph_mode::stage, in_flight);
      const outcome seen = how == strategy::async ? executed<sequential_executor>(run)
                                                  : executed<ready_executor>(run);
      nanoseconds begin = 0;
      for (std::size_t f = 0; f < run.times.size(); ++f) {
        EXPECT_EQ(seen.stages[f][0], (span{begin, begin + stage}));
        EXPECT_EQ(seen.frames[f].end, begin + stage);
        // One host thread takes a frame up when it can; elsewhere it begins when a slot is free.
        if (how == strategy::async) {
          EXPECT_EQ(seen.frames[f].begin, begin);
        }
        begin += stage;
      }
    }
  }
}

TEST(virtual_host, reports_the_stage_that_failed_on_the_device) {
  for (const auto how : {strategy::async, strategy::overlap}) {
    drawn_run run = three_in_a_row(how);
    run.times = {{1000, 100, 10}, {-1, 100, 10}, {1000, 100, 10}};
    const virtual_run made = how == strategy::async ? run_in_virtual_time<sequential_executor>(run)
                                                    : run_in_virtual_time<ready_executor>(run);
    EXPECT_EQ(made.result.completed, 1);
    ASSERT_TRUE(made.result.failure);
    EXPECT_THAT(*made.result.failure, testing::HasSubstr("stage '0' (drawn.device), frame 1"));
    EXPECT_THAT(*made.result.failure, testing::HasSubstr("it broke"));
  }
}

TEST(virtual_host, reports_what_failed_in_a_frame_graph) {
  const std::pair<of_frames<nanoseconds>, const char*> cases[] = {
      {{{9, 9, 9}, {9, -1, 9}, {9, 9, 9}}, "stage '1' (drawn.cpu), frame 1: it broke"},
      {{{9, 9, 9}, {9, 9, -1}, {9, 9, 9}},
       "stage '2' (drawn.device), frame 1: operation 'drawn' failed on the model device: it broke"},
  };
  for (const auto& [times, says] : cases) {
    for (const std::size_t in_flight : {1, 2, 3}) {
      const virtual_run made =
          run_in_virtual_time<frame_executor>(three_in_a_graph(times, in_flight));
      EXPECT_EQ(made.result.completed, 1);
      ASSERT_TRUE(made.result.failure);
      EXPECT_EQ(*made.result.failure, says);
    }
  }
}

TEST(virtual_host, issues_one_stage_at_a_time_to_a_stream_and_overlaps_none_with_itself) {
  drawn_run run;
  run.planned = plan_of({side::device}, {}, streams);
  run.times.assign(4, {10});
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  const outcome seen = executed<ready_executor>(run, {.issue = 5000});
  nanoseconds begin = 0;
  for (const span& frame : seen.frames) {
    EXPECT_EQ(frame, (span{begin, begin + 5010}));
    begin += 5010;
  }
}

// Otherwise, a CPU stage would wait for the launches of a worker, and one of lower rank would
// start.
TEST(virtual_host, leaves_cpu_stages_to_idle_workers_while_a_worker_issues_device_stages) {
  for (const std::int64_t window : {0, 1}) {
    drawn_run run;
    run.planned =
        plan_of({side::cpu, side::device, side::cpu, side::cpu}, {{0, 1}, {0, 2}, {0, 3}}, streams);
    run.times = {{10, 10, 10, 10}};
    finish(run.planned, strategy::overlap, graph_mode::off, 1);
    run.planned.run.window = window;
    const overheads slow{.issue = 1000};
    run.workers = 2;
    outcome seen = executed<ready_executor>(run, slow);
    EXPECT_EQ(seen.stages[0][1].end, 1020) << window;
    EXPECT_EQ(seen.stages[0][2], (span{10, 20})) << window;
    EXPECT_EQ(seen.stages[0][3], (span{20, 30})) << window;
    run.workers = 1;  // device stages first, then planned order
    seen = executed<ready_executor>(run, slow);
    EXPECT_EQ(seen.stages[0][1].end, 1020) << window;
    EXPECT_EQ(seen.stages[0][2], (span{1010, 1020})) << window;
    EXPECT_EQ(seen.stages[0][3], (span{1020, 1030})) << window;
  }
}

TEST(virtual_host, notes_which_worker_had_a_stage) {
  drawn_run run;
  run.planned = plan_of({side::cpu, side::cpu}, {}, streams);
  run.workers = 2;
  run.times.assign(3, {100, 100});
  finish(run.planned, strategy::overlap, graph_mode::stage, 1);
  const run_record record = run_in_virtual_time<ready_executor>(run).record;
  EXPECT_THAT(record.threads, testing::UnorderedElementsAre("main", testing::StartsWith("worker 1"),
                                                            testing::StartsWith("worker 2")));
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_NE(record.stages[0].threads[f], record.stages[1].threads[f]);
  }
}

/// A device stage whose time is that of its rows.
class served_stage final : public device_stage {
 public:
  explicit served_stage(nanoseconds time) : time_(time) {}
  std::unique_ptr<device_work> bind(const stage_tensors&) override {
    struct work final : device_work {
      explicit work(nanoseconds of) : time(of) {}
      void enqueue(stream& s) override { model_operate(s, "served", time); }
      nanoseconds time;
    };
    return std::make_unique<work>(time_);
  }

 private:
  nanoseconds time_;
};

/// `number` and `rows` on the CPU; `served` and `copy` on the device, of 1000 and 10 ns a row.
stage_registry served_kinds() {
  stage_registry registry;
  for (const char* name : {"number", "rows", "served", "copy"}) {
    stage_kind kind;
    kind.name = name;
    kind.moves = kind.name == "copy";
    const bool number = kind.name == "number";
    const nanoseconds of_row = kind.moves ? 10 : 1000;
    kind.on = kind.moves || kind.name == "served" ? side::device : side::cpu;
    kind.inputs = {{"x", "", !number}};
    kind.optional_inputs = number ? 1 : 0;
    kind.outputs = {{"y", "", !number}};
    if (kind.on == side::device) kind.backends = {""};
    kind.prepare = [number, of_row](const arguments&, std::span<const tensor_type> inputs,
                                    diagnostics&) {
      prepared_stage made;
      made.outputs = {number ? tensor_type{{1}, dtype::int64} : inputs[0]};
      made.make_cpu = [](const stage_config&) {
        struct never_run final : cpu_stage {
          void run(const cpu_call&) override { throw std::logic_error("it must not compute"); }
        };
        return std::make_unique<never_run>();
      };
      made.make_device[""] = [of_row](device&, const stage_config& config) {
        return std::make_unique<served_stage>(of_row * config.outputs[0].shape[0]);
      };
      return made;
    };
    registry.add(std::move(kind));
  }
  return registry;
}

pipeline_spec served_pipeline() {
  pipeline_spec spec;
  spec.name = {"served"};
  spec.inputs.push_back({.name = {"x"}, .type = {{4, 2}, dtype::float32}, .on = side::device});
  const auto add = [&](const char* name, const char* kind, std::vector<named> reads) {
    stage_spec& stage = spec.stages.emplace_back();
    stage.name = {name};
    stage.kind = {kind};
    stage.reads = std::move(reads);
    if (stage.kind.text != "number") stage.rows = {"count"};
  };
  add("beside", "number", {});
  add("count", "number", {});
  add("flag", "number", {});
  add("first", "served", {{"x"}});
  add("second", "served", {{"first"}});
  spec.stages.back().when = {"flag"};
  add("post", "rows", {{"second"}});
  spec.stages.back().otherwise = {{"first"}};
  return spec;
}

template <template <class> class Executor>
run_record served(strategy how, const std::vector<std::int64_t>& counts) {
  const stage_registry registry = served_kinds();
  pipeline_spec spec = served_pipeline();
  spec.run.strategy = how;
  diagnostics found;
  const plan p = make_plan(spec, registry, {.backend = "model"}, found);
  EXPECT_TRUE(found.all().empty()) << found.render();
  virtual_clock clock;
  const auto on = open_model_device(clock, {.operations_at_once = 2});
  prepared_pipeline pipeline(p, *on, nullptr);
  const auto count_of = [&](std::int64_t frame) { return counts[static_cast<std::size_t>(frame)]; };
  const auto time_of = [&](std::size_t stage, const frame_position& frame) -> nanoseconds {
    const std::string& name = p.stages[stage].name;
    if (name == "beside") return 3000;
    if (name == "count") return 1000;
    return name == "flag" ? 0 : 7 * std::min<std::int64_t>(count_of(frame.number), 4);
  };
  const auto result_of = [&](std::size_t stage, const frame_position& frame,
                             std::span<const tensor_view> outputs) {
    const std::string& name = p.stages[stage].name;
    if (name == "count") *outputs[0].as<std::int64_t>() = count_of(frame.number);
    if (name == "flag") *outputs[0].as<std::int64_t>() = frame.number % 2;
  };
  const auto frames = std::ssize(counts);
  recording kept(p, pipeline.parts(), *on, timing_method::event, frames, clock.now());
  Executor<virtual_host> executor(
      pipeline,
      virtual_world{.clock = clock, .workers = 3, .cpu_time = time_of, .cpu_result = result_of});
  phase all;
  all.frames = frames;
  all.into = &kept;
  const phase_result result = executor.run(all);
  EXPECT_EQ(result.failure, std::nullopt);
  run_record record;
  std::move(kept).move_into(record, result.completed);
  return record;
}

TEST(virtual_host, takes_the_time_of_the_bucket_that_holds_the_rows_of_a_frame) {
  const std::vector<std::int64_t> counts = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 9, 9, 1};
  const run_record serial = served<sequential_executor>(strategy::serial, counts);
  const run_record async = served<sequential_executor>(strategy::async, counts);
  const run_record overlap = served<ready_executor>(strategy::overlap, counts);
  for (std::size_t f = 0; f < counts.size(); ++f) {
    const std::int64_t rows = std::min<std::int64_t>(counts[f], 4);
    const std::int64_t bucket = rows == 3 ? 4 : rows;
    const bool second = f % 2 == 1;
    const nanoseconds post = 7 * rows;
    const nanoseconds copy = 10 * bucket;
    // The copy of the first result is beside the second stage.
    const nanoseconds path = 1000 * bucket + (second ? 1000 * bucket : 0) + copy + post;
    const auto time_of = [f](const run_record& record) {
      return record.frames[f].end - record.frames[f].begin;
    };
    EXPECT_EQ(time_of(serial), 4000 + path + (second ? copy : 0)) << "frame " << f;
    EXPECT_EQ(time_of(async), 4000 + path) << "frame " << f;
    EXPECT_EQ(time_of(overlap), std::max<nanoseconds>(3000, 1000 + path)) << "frame " << f;
    for (const auto& stage : overlap.stages) {
      if (stage.name != "first" && stage.name != "second") continue;
      const bool runs = rows > 0 && (second || stage.name == "first");
      EXPECT_EQ(stage.device[f].end - stage.device[f].begin, runs ? 1000 * bucket : 0);
    }
  }
}

TEST(virtual_host, does_the_same_every_time) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const drawn_run run = draw(seed, strategy::overlap, 3);
    const overheads of{.issue = 700, .wake_up = 20'000, .completion_delay = 30'000};
    const outcome once = executed<ready_executor>(run, of);
    const outcome again = executed<ready_executor>(run, of);
    ASSERT_EQ(once.stages, again.stages);
    ASSERT_EQ(once.frames, again.frames);
  }
}

}  // namespace
}  // namespace graphline
