#include "framework/spec/experiment_settings_reader.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "framework/base/units.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline {
namespace {

constexpr std::int64_t most_trials = 10'000;

constexpr std::pair<const char*, double> tails[] = {
    {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}};

void read_trials(experiment_settings& how, const node& value, diagnostics& out) {
  const auto trials = read_integer(value, "trials", out);
  if (!trials) return;
  if (*trials < 1 || *trials > most_trials) {
    out.error(value.where(), fmt::format("'trials' must be from 1 to 10,000, found {}", *trials));
    return;
  }
  how.trials = *trials;
}

void read_time_limit(experiment_settings& how, const node& value, diagnostics& out) {
  // In seconds rather than in the milliseconds that read_duration proposes.
  diagnostics ignored;
  if (read_number(value, "time_limit", ignored) && parse_duration(value.text() + "s")) {
    out.error(value.where(), fmt::format("'time_limit' needs a unit, such as {}s", value.text()));
    return;
  }
  const auto limit = read_duration(value, "time_limit", out);
  if (!limit) return;
  if (*limit <= 0) {
    out.error(value.where(), "'time_limit' must be more than zero");
    return;
  }
  how.time_limit = limit;
}

void read_tail(experiment_settings& how, const node& value, diagnostics& out) {
  std::vector<std::string> names;
  for (const auto& [name, quantile] : tails) names.emplace_back(name);
  const auto chosen = read_choice(value, "tail", names, out);
  for (const auto& [name, quantile] : tails) {
    if (chosen == name) how.tail = quantile;
  }
}

void read_order_seed(experiment_settings& how, const node& value, diagnostics& out) {
  const auto seed = read_integer(value, "seed", out);
  if (!seed) return;
  if (*seed < 0) {
    out.error(value.where(), fmt::format("'seed' must be at least 0, found {}", *seed));
    return;
  }
  how.seed = static_cast<std::uint64_t>(*seed);
}

struct experiment_key {
  const char* key;
  void (*read)(experiment_settings&, const node&, diagnostics&);
};

// The one list of them.
constexpr experiment_key all_keys[] = {
    {"trials", read_trials},
    {"time_limit", read_time_limit},
    {"narrow_to", [](experiment_settings& how, const node& value,
                     diagnostics& out) { how.narrow_to = read_percent(value, "narrow_to", out); }},
    {"margin",
     [](experiment_settings& how, const node& value, diagnostics& out) {
       how.margin = read_percent(value, "margin", out).value_or(how.margin);
     }},
    {"tail", read_tail},
    {"seed", read_order_seed},
    {"processes",
     [](experiment_settings& how, const node& value, diagnostics& out) {
       how.fresh_processes = read_choice(value, "processes", {"one", "fresh"}, out) == "fresh";
     }},
    {"repeat_affected",
     [](experiment_settings& how, const node& value, diagnostics& out) {
       how.repeat_affected = read_boolean(value, "repeat_affected", out).value_or(false);
     }},
};

}  // namespace

const std::vector<std::string>& experiment_setting_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> list;
    for (const experiment_key& k : all_keys) list.emplace_back(k.key);
    return list;
  }();
  return keys;
}

experiment_settings read_experiment_settings(const node& root, diagnostics& out) {
  experiment_settings how;
  for (const experiment_key& k : all_keys) {
    if (const node* value = root.find(k.key)) k.read(how, *value, out);
  }
  return how;
}

}  // namespace graphline
