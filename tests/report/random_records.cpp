#include "tests/report/random_records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include "framework/report/json/record_json.hpp"
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

std::string text_of(const trial_record& trial) {
  compact_json text;
  write_record(text, trial);
  return text.take();
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
  EXPECT_TRUE(text_of(a) == text_of(b)) << text_of(a) << "\nis not\n" << text_of(b);
}

}  // namespace graphline::samples
