#include "framework/spec/experiment_settings_reader.hpp"

#include <algorithm>
#include <utility>

#include "framework/spec/key_table.hpp"

namespace graphline {
namespace {

constexpr std::pair<const char*, double> tails[] = {
    {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}};

setting<experiment_settings> tail_setting() {
  parameter key{.name = "tail",
                .type = parameter_type::choice,
                .help = "The percentile of end-to-end times that is compared beside p50."};
  for (const auto& [name, quantile] : tails) {
    key.choices.emplace_back(name);
    if (quantile == experiment_settings{}.tail) key.default_value = name;
  }
  return {std::move(key), [](experiment_settings& how, const arguments::value& v) {
            how.tail = std::ranges::find(tails, std::get<std::string>(v),
                                         &std::pair<const char*, double>::first)
                           ->second;
          }};
}

// The one list of them.
const std::vector<setting<experiment_settings>>& all_settings() {
  using how = experiment_settings;
  static const std::vector<setting<how>> table = {
      setting_of(&how::trials, {.name = "trials",
                                .help = "Maximum number of trials of each configuration.",
                                .minimum = 1,
                                .maximum = 10'000}),
      setting_of(&how::time_limit, {.name = "time_limit",
                                    .type = parameter_type::duration,
                                    .help = "No block of trials begins after this time.",
                                    .unit = "s",
                                    .minimum = 1}),
      setting_of(&how::narrow_to,
                 {.name = "narrow_to",
                  .type = parameter_type::percent,
                  .help = "Stop when the 95 % interval of every ratio of p50s reaches at most this "
                          "far to either side."}),
      {{.name = "margin",
        .type = parameter_type::percent,
        .help = "A ratio that differs from 1 by at most this counts as the same.",
        .default_value = "1%"},
       [](how& to, const arguments::value& v) { to.margin = std::get<double>(v); }},
      tail_setting(),
      setting_of(&how::seed,
                 {.name = "seed", .help = "Seed of the random order of trials.", .minimum = 0}),
      {{.name = "processes",
        .type = parameter_type::choice,
        .help = "Whether all trials run in one process, or each in a fresh one.",
        .default_value = "one",
        .choices = {"one", "fresh"}},
       [](how& to, const arguments::value& v) {
         to.fresh_processes = std::get<std::string>(v) == "fresh";
       }},
      setting_of(&how::repeat_affected,
                 {.name = "repeat_affected",
                  .help = "Repeat blocks of trials that machine noise disturbed."}),
  };
  return table;
}

}  // namespace

const std::vector<parameter>& experiment_setting_keys() {
  static const std::vector<parameter> keys = keys_of(all_settings());
  return keys;
}

experiment_settings read_experiment_settings(const node& root, diagnostics& out) {
  experiment_settings how;
  for (const setting<experiment_settings>& s : all_settings()) {
    const node* given = root.find(s.key.name);
    if (given == nullptr) continue;
    if (const auto read = read_value(s.key, *given, "", out)) s.store(how, *read);
  }
  return how;
}

}  // namespace graphline
