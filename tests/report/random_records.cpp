#include "tests/report/random_records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <type_traits>

#include "framework/spec/settings_table.hpp"

namespace graphline::samples {

namespace {

class drawing {
 public:
  explicit drawing(std::uint64_t seed) : generator_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(generator_() % n); }
  bool coin() { return below(2) == 0; }

  /// Of every magnitude, negative ones too.
  std::int64_t whole() { return static_cast<std::int64_t>(generator_()) >> below(64); }
  std::uint64_t natural() { return generator_() >> below(64); }
  std::int64_t count() { return static_cast<std::int64_t>(natural() >> 1); }

  double number() {
    constexpr double unusual[] = {0.0, -0.0, 1e22, 5e-324, std::numeric_limits<double>::max(), 0.1};
    if (below(4) == 0) return unusual[below(std::size(unusual))];
    const auto value = std::bit_cast<double>(generator_());
    return std::isfinite(value) ? value : 0.5;
  }

  std::string text() {
    constexpr const char* pieces[] = {"a",    "\"", "\\",   "\n",   "\t",
                                      "\x01", "ü",  "画像", "🙂", ": ["};
    std::string result;
    for (std::size_t n = below(6); n > 0; --n) result += pieces[below(std::size(pieces))];
    return result;
  }

  template <class T, std::size_t N>
  T word(const word<T> (&table)[N]) {
    return table[below(N)].second;
  }

  /// Up to three of what `make` makes.
  template <class Make>
  auto list(Make make) {
    std::vector<decltype(make())> result;
    for (std::size_t n = below(4); n > 0; --n) result.push_back(make());
    return result;
  }

  /// A time that a run can hold, of every magnitude.
  nanoseconds time() { return whole() / 2048; }
  std::vector<nanoseconds> times() {
    return list([&] { return time(); });
  }
  tensor_type type() {
    return {shape(list([&] { return static_cast<std::int64_t>(below(1000)); })),
            static_cast<dtype>(below(7))};
  }
  std::vector<std::pair<std::string, std::string>> texts() {
    return list([&] { return std::pair(text(), text()); });
  }
  std::vector<stamp_pair> stamps(std::size_t frames) {
    std::vector<stamp_pair> result;
    for (std::size_t i = 0; i < frames; ++i) {
      const auto [begin, end] = std::minmax({time(), time()});
      result.push_back({begin, end});
    }
    return coin() ? result : std::vector<stamp_pair>();
  }

  settings how_to_run() {
    settings run;
    each_setting([&]<class Held>(Held settings::*member, const setting_entry&) {
      if constexpr (std::is_enum_v<Held>) {
        run.*member = word(words_of<Held>::table);
      } else if constexpr (std::is_same_v<Held, bool>) {
        run.*member = coin();
      } else if constexpr (std::is_same_v<Held, std::optional<nanoseconds>>) {
        if (coin()) run.*member = time();
      } else if constexpr (std::is_same_v<Held, std::optional<double>>) {
        if (coin()) run.*member = std::clamp(std::abs(number()), 1e-3, 1e6);
      } else {
        run.*member = static_cast<Held>(std::is_signed_v<Held> ? natural() >> 1 : natural());
      }
    });
    return run;
  }

  cost_record cost() {
    cost_record result;
    for (auto* count : {&result.flops, &result.bytes_read, &result.bytes_written}) {
      if (coin()) *count = static_cast<std::int64_t>(natural() >> 8);
    }
    result.arithmetic = word(precision_words);
    return result;
  }

  /// A bandwidth, rate or duration of every magnitude that one can have.
  double ceiling_value() { return std::clamp(std::abs(number()), 1e-3, 1e18); }
  ceiling_figure figure() {
    ceiling_figure result;
    result.what = word(ceiling_words);
    if (unit_of(result.what) == ceiling_unit::rate) result.arithmetic = word(precision_words);
    result.value = ceiling_value();
    result.worst = ceiling_value();
    result.best = ceiling_value();
    return result;
  }

  stage_record stage(std::size_t number, std::size_t frames, std::size_t threads) {
    stage_record result;
    result.name = text();
    result.kind = text();
    result.on = word(side_words);
    result.copy = coin();
    result.stream = text();
    result.priority = word(priority_words);
    for (std::size_t i = 0; i < number; ++i) {
      if (coin()) result.waits.push_back({i, word(satisfied_by_words)});
    }
    if (threads > 0 && coin()) {
      for (std::size_t i = 0; i < frames; ++i) {
        result.threads.push_back(static_cast<std::uint32_t>(below(threads)));
      }
    }
    result.cost = cost();
    for (auto* column : {&result.enqueued, &result.device, &result.synced, &result.cpu}) {
      *column = stamps(frames);
    }
    if (coin()) result.busy = busy(result.device);
    result.parts = list([&] { return part_record{text(), text(), stamps(frames), cost()}; });
    for (auto& part : result.parts) part.busy = busy(part.device);
    result.operations = list([&] { return operation_record{text(), times(), times()}; });
    result.traced_runs = 1 + count() / 2;
    return result;
  }

  std::vector<nanoseconds> busy(const std::vector<stamp_pair>& device) {
    auto times = lengths(device);
    for (auto& t : times) t = static_cast<nanoseconds>(below(static_cast<std::size_t>(t) + 1));
    return times;
  }

  tensor_record tensor(std::size_t stages) {
    tensor_record result;
    result.name = text();
    result.type = type();
    result.on = word(side_words);
    if (stages > 0 && coin()) result.writer = below(stages);
    for (std::size_t i = below(2); i < stages; i += 1 + below(2)) result.readers.push_back(i);
    return result;
  }

  graph_record graph() {
    graph_record result;
    result.name = text();
    result.operations = natural();
    result.executables = below(64);
    result.capture = time();
    result.instantiate = time();
    result.first_launch = time();
    result.later_launch = times();
    result.launch = times();
    result.eager = times();
    return result;
  }

  output_record output() {
    output_record result;
    result.tensor = text();
    result.type = type();
    result.checksum = text();
    result.finite = coin();
    result.values = list([&] { return number(); });
    if (coin()) result.values.push_back(std::numeric_limits<double>::infinity());
    if (coin()) result.values.push_back(-std::numeric_limits<double>::infinity());
    if (coin()) result.values.push_back(std::numeric_limits<double>::quiet_NaN());
    return result;
  }

  template <class Make>
  auto maybe(Make make) {
    return coin() ? std::optional(make()) : std::nullopt;
  }

  device_state state() {
    return {maybe([&] { return number(); }), maybe([&] { return number(); }),
            list([&] { return text(); }), maybe([&] { return static_cast<int>(below(9)); })};
  }

  conditions_record conditions() {
    return {.lasted = time(),
            .cores = static_cast<int>(below(1000)),
            .load_before = maybe([&] { return number(); }),
            .load_after = maybe([&] { return number(); }),
            .steal = maybe([&] { return time(); }),
            .others = maybe([&] { return time(); }),
            .clock_before = maybe([&] { return number(); }),
            .clock_after = maybe([&] { return number(); }),
            .device_before = maybe([&] { return state(); }),
            .device_after = maybe([&] { return state(); }),
            .threads = {{text(), time(), time()}}};
  }

  run_record run(std::size_t frames) {
    run_record record;
    record.pipeline = text();
    record.description = text();
    record.parameters = texts();
    record.run = how_to_run();
    record.device = {text(), text(), natural(), static_cast<int>(below(100)), 3, coin(),
                     coin(), {},     texts()};
    record.cpu_cores = static_cast<int>(below(100));
    record.environment = texts();
    record.memory = {natural(), natural(), natural(), natural(), natural()};
    record.clock_error = time();
    record.clock_drift = time();
    record.processor_time = time();
    if (coin()) record.conditions = conditions();
    for (std::size_t i = 0; i < frames; ++i) {
      std::array<nanoseconds, 3> at = {time(), time(), time()};
      std::sort(at.begin(), at.end());
      record.frames.push_back({at[0], at[1], at[2]});
    }
    if (coin()) record.source = {text(), text()};
    record.launches = stamps(frames);
    record.threads = list([&] { return text(); });
    record.load = {times(), count(), count()};
    record.calibration = {text(), list([&] { return figure(); }), list([&] { return text(); })};
    if (coin()) record.calibration.reset();
    for (std::size_t n = below(4); n > 0; --n) {
      record.stages.push_back(stage(record.stages.size(), frames, record.threads.size()));
    }
    const std::size_t stages = record.stages.size();
    record.tensors = list([&] { return tensor(stages); });
    record.graphs = list([&] { return graph(); });
    record.outputs = list([&] { return output(); });
    record.warnings = list([&] { return text(); });
    record.interrupted = coin();
    if (coin()) record.failure = text();
    return record;
  }

 private:
  std::mt19937_64 generator_;
};

bool same(const std::vector<stamp_pair>& a, const std::vector<stamp_pair>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto x, auto y) { return x.begin == y.begin && x.end == y.end; });
}

/// NaN is NaN; everything else must have the same bits, the sign of zero too.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) ||
           std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

void expect_same(const settings& a, const settings& b) {
  each_setting(
      [&](auto member, const setting_entry& of) { EXPECT_EQ(a.*member, b.*member) << of.key; });
}

void expect_same(const stage_record& a, const stage_record& b) {
  EXPECT_EQ(std::tie(a.name, a.kind, a.on, a.copy, a.stream, a.traced_runs),
            std::tie(b.name, b.kind, b.on, b.copy, b.stream, b.traced_runs));
  EXPECT_EQ(std::tie(a.priority, a.waits, a.threads), std::tie(b.priority, b.waits, b.threads));
  EXPECT_TRUE(a.cost == b.cost);
  EXPECT_TRUE(same(a.enqueued, b.enqueued) && same(a.device, b.device));
  EXPECT_EQ(a.busy, b.busy);
  EXPECT_TRUE(same(a.synced, b.synced) && same(a.cpu, b.cpu));
  ASSERT_EQ(a.parts.size(), b.parts.size());
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    EXPECT_EQ(a.parts[i].name, b.parts[i].name);
    EXPECT_EQ(a.parts[i].choice, b.parts[i].choice);
    EXPECT_TRUE(a.parts[i].cost == b.parts[i].cost);
    EXPECT_TRUE(same(a.parts[i].device, b.parts[i].device));
    EXPECT_EQ(a.parts[i].busy, b.parts[i].busy);
  }
  ASSERT_EQ(a.operations.size(), b.operations.size());
  for (std::size_t i = 0; i < a.operations.size(); ++i) {
    const auto& x = a.operations[i];
    const auto& y = b.operations[i];
    EXPECT_EQ(std::tie(x.name, x.calls, x.together), std::tie(y.name, y.calls, y.together));
  }
}

void expect_same(const tensor_record& a, const tensor_record& b) {
  EXPECT_EQ(std::tie(a.name, a.type, a.on, a.writer, a.readers),
            std::tie(b.name, b.type, b.on, b.writer, b.readers));
}

void expect_same(const graph_record& a, const graph_record& b) {
  EXPECT_EQ(std::tie(a.name, a.operations, a.executables, a.capture, a.instantiate, a.first_launch,
                     a.later_launch, a.launch, a.eager),
            std::tie(b.name, b.operations, b.executables, b.capture, b.instantiate, b.first_launch,
                     b.later_launch, b.launch, b.eager));
}

void expect_same(const output_record& a, const output_record& b) {
  EXPECT_EQ(std::tie(a.tensor, a.type, a.checksum, a.finite),
            std::tie(b.tensor, b.type, b.checksum, b.finite));
  EXPECT_TRUE(same(a.values, b.values));
}

void expect_same(const frame_record& a, const frame_record& b) {
  EXPECT_EQ(std::tie(a.due, a.begin, a.end), std::tie(b.due, b.begin, b.end));
}

template <class T>
void expect_same(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

void expect_same(const std::optional<device_state>& a, const std::optional<device_state>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_EQ(std::tie(a->clock, a->memory_clock, a->slowed_by, a->other_processes),
            std::tie(b->clock, b->memory_clock, b->slowed_by, b->other_processes));
}

void expect_same(const conditions_record& a, const conditions_record& b) {
  EXPECT_EQ(std::tie(a.lasted, a.cores, a.load_before, a.load_after, a.steal, a.others,
                     a.clock_before, a.clock_after),
            std::tie(b.lasted, b.cores, b.load_before, b.load_after, b.steal, b.others,
                     b.clock_before, b.clock_after));
  expect_same(a.device_before, b.device_before);
  expect_same(a.device_after, b.device_after);
  EXPECT_EQ(a.threads.at(0).thread, b.threads.at(0).thread);
  EXPECT_EQ(a.threads.at(0).on_cpu, b.threads.at(0).on_cpu);
  EXPECT_EQ(a.threads.at(0).waited, b.threads.at(0).waited);
}

void expect_same(const run_record& a, const run_record& b) {
  EXPECT_EQ(std::tie(a.pipeline, a.description, a.parameters, a.environment, a.warnings),
            std::tie(b.pipeline, b.description, b.parameters, b.environment, b.warnings));
  EXPECT_EQ(std::tie(a.clock_error, a.clock_drift, a.processor_time, a.interrupted, a.failure),
            std::tie(b.clock_error, b.clock_drift, b.processor_time, b.interrupted, b.failure));
  expect_same(a.run, b.run);
  const auto device = [](const device_properties& d) {
    return std::tie(d.backend, d.name, d.memory_bytes, d.compute_threads, d.priority_levels,
                    d.one_at_a_time, d.tells_busy_time, d.details);
  };
  EXPECT_EQ(device(a.device), device(b.device));
  EXPECT_EQ(a.cpu_cores, b.cpu_cores);
  const auto memory = [](const memory_usage& m) {
    return std::tie(m.device_bytes, m.device_peak_bytes, m.pinned_bytes, m.pinned_peak_bytes,
                    m.allocations);
  };
  EXPECT_EQ(memory(a.memory), memory(b.memory));
  EXPECT_EQ(std::tie(a.load.dropped, a.load.found_full, a.load.longest_queue),
            std::tie(b.load.dropped, b.load.found_full, b.load.longest_queue));
  expect_same(a.frames, b.frames);
  EXPECT_EQ(std::tie(a.source, a.threads), std::tie(b.source, b.threads));
  EXPECT_TRUE(a.calibration == b.calibration);
  ASSERT_EQ(a.conditions.has_value(), b.conditions.has_value());
  if (a.conditions) expect_same(*a.conditions, *b.conditions);
  EXPECT_TRUE(same(a.launches, b.launches));
  expect_same(a.stages, b.stages);
  expect_same(a.tensors, b.tensors);
  expect_same(a.graphs, b.graphs);
  expect_same(a.outputs, b.outputs);
}

}  // namespace

trial_record random_trial(std::uint64_t seed, std::size_t members, std::size_t frames) {
  drawing draw(seed);
  trial_record trial;
  trial.configuration = draw.below(100);
  trial.block = draw.below(100);
  trial.begun = draw.time();
  for (std::size_t i = 0; i < members; ++i) trial.members.push_back(draw.run(frames));
  return trial;
}

void expect_same(const trial_record& a, const trial_record& b) {
  EXPECT_EQ(std::tie(a.configuration, a.block, a.begun),
            std::tie(b.configuration, b.block, b.begun));
  ASSERT_EQ(a.members.size(), b.members.size());
  for (std::size_t i = 0; i < a.members.size(); ++i) expect_same(a.members[i], b.members[i]);
}

}  // namespace graphline::samples
