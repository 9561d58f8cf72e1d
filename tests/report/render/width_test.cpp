#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/render/text_table.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/sample_calibrations.hpp"
#include "tests/report/sample_capacity.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline {
namespace {

std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const auto escape = escape_at(std::string_view(text).substr(at));
    if (escape == 0) plain += text[at];
    at += std::max<std::size_t>(1, escape);
  }
  return plain;
}

/// Expects lines within every width and without trailing spaces, and equal text with colors.
void expect_to_fit(const report::document& says, std::uint64_t seed) {
  for (const std::size_t width : {40, 60, 80, 120, 200}) {
    const auto text = as_text(says, {.width = width});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(text_width(line), width) << "seed " << seed << '\n' << line;
      EXPECT_FALSE(line.ends_with(' ')) << "seed " << seed << '\n' << line;
    }
    const auto colored = as_text(says, {.colors = true, .width = width});
    EXPECT_NE(colored, text);
    EXPECT_EQ(without_escapes(colored), text) << "seed " << seed;
  }
}

/// Generates names of several lengths and scripts, with spaces for wrapping.
class naming {
 public:
  explicit naming(std::uint64_t seed) : random_(seed) {}

  std::string operator()() {
    constexpr const char* pieces[] = {"backbone", "x",    "画像処理", "copy:", " of ", "\n",
                                      "\"",       "🙂", "naïve",    "\xff",  "<b>"};
    std::string name;
    for (auto count = 1 + random_() % 12; count > 0; --count) {
      name += pieces[random_() % std::size(pieces)];
      // Words are shorter than the narrowest line.
      if (name.size() - (name.rfind(' ') + 1) > 12) name += ' ';
    }
    return name + std::to_string(random_() % 100);
  }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
};

TEST(widths, are_kept_by_runs_of_any_stages) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    naming name(seed);
    auto record = seed % 2 == 0 ? samples::two_models_in_parts(1 + name.below(320))
                                : samples::two_models_on_schedule(1 + name.below(320));
    record.pipeline = name();
    for (std::size_t more = name.below(8); more > 0; --more) {
      record.stages.push_back(record.stages[name.below(record.stages.size())]);
    }
    for (auto& stage : record.stages) {
      stage.name = name();
      for (auto& part : stage.parts) part = {name(), name(), part.device};
    }
    samples::add_graphs(record);
    samples::add_operations(record);
    for (auto& operation : record.stages[0].operations) operation.name = name() + name();
    record.run.deadline = 74'500'000;
    record.clock_error = 1'200;
    record.warnings = {name() + name()};
    record.interrupted = name.below(2) == 0;
    expect_to_fit(report::describe(record), seed);
  }
}

TEST(widths, are_kept_by_experiments_of_any_configurations) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    naming name(seed);
    std::vector<samples::made_configuration> configurations;
    for (std::size_t count = 2 + name.below(7); count > 0; --count) {
      auto made =
          samples::made_of({{"strategy", name()}, {"in_flight", std::to_string(count)}},
                           samples::taking(static_cast<nanoseconds>(60 + count) * 1'000'000));
      if (seed % 3 == 0) made = {name(), {}, made.times};
      configurations.push_back(made);
    }
    auto record = samples::made_experiment(name(), configurations, 6);
    const auto stage = name();
    for (auto& trial : record.trials) {
      for (auto& run : trial.members) run.stages[0].name = stage;
    }
    auto summary = samples::figures_of(record);
    for (std::size_t pair = 0; pair < record.pairs.size(); ++pair) {
      constexpr verdict kinds[] = {verdict::faster, verdict::slower, verdict::same,
                                   verdict::inconclusive};
      const auto kind = kinds[name.below(4)];
      for (const auto figure : {figure::p50, figure::tail, figure::throughput}) {
        samples::add_comparison(
            summary, record,
            {pair, figure, 0.93, 1.08, kind,
             kind == verdict::inconclusive ? std::optional<std::int64_t>(40) : std::nullopt});
      }
    }
    expect_to_fit(report::describe(record, analyze(record, summary)), seed);
  }
}

TEST(widths, are_kept_by_rooflines) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    naming name(seed);
    auto record = samples::two_models_roofline(1 + name.below(40));
    for (std::size_t s = 0; s < record.stages.stages.size(); ++s) {
      auto& stage = record.stages.stages[s];
      stage.name = record.layers.stages[s].name = name();
      for (std::size_t p = 0; p < stage.parts.size(); ++p) {
        stage.parts[p].name = record.layers.stages[s].parts[p].name = name();
        stage.parts[p].cost.flops = std::int64_t{1} << name.below(62);
        stage.parts[p].cost.bytes_read = std::int64_t{1} << name.below(62);
      }
      if (name.below(4) == 0) stage.cost.flops.reset();
    }
    record.stages.pipeline = name();
    record.stages.calibration->stale = {name()};
    record.stages.warnings = {name() + name()};
    record.layers.failure = name();
    expect_to_fit(report::describe(record), seed);
  }
}

TEST(widths, are_kept_by_rates_that_were_tried) {
  auto record = samples::two_models_capacity({6, 15, 24, 33});
  record.closed_loop->failure = "stage 'noise' failed in frame 3";
  expect_to_fit(report::describe(record), 0);
}

TEST(widths, are_kept_by_calibrations) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    naming name(seed);
    auto record = seed % 2 == 0 ? samples::host_calibration() : samples::gpu_calibration();
    record.device.name = name();
    record.interrupted = seed % 3 == 0;
    record.warnings = {name()};
    for (auto& ceiling : record.ceilings) ceiling.how = name() + " " + name();
    const report::calibration_notes notes{{}, name()};
    expect_to_fit(report::describe(record, notes), seed);
  }
}

}  // namespace
}  // namespace graphline
