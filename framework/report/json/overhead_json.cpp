#include "framework/report/json/overhead_json.hpp"

#include <algorithm>
#include <iterator>

#include "framework/analysis/experiment/overhead.hpp"
#include "framework/analysis/experiment/overhead_findings.hpp"
#include "framework/analysis/run/disturbance.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

json figure_json(const std::optional<trial_figure>& figure) {
  if (!figure) return {};
  json trials = json::array();
  for (const double ns : figure->trials) trials.push_back(milliseconds(ns));
  return {{"unit", "ms"},
          {"median", milliseconds(figure->median)},
          {"quartiles_apart", figure->spread ? json(milliseconds(*figure->spread)) : json()},
          {"trial_medians", std::move(trials)}};
}

json cost_json(const std::optional<added_cost>& cost) {
  if (!cost) return {};
  constexpr double us = 1e3;
  json range;
  json percent_range;
  if (cost->range) {
    range = {cost->range->low / us, cost->range->high / us};
    percent_range = {cost->percent(cost->range->low), cost->percent(cost->range->high)};
  }
  return {{"unit", "us"},
          {"median", cost->median / us},
          {"interval", std::move(range)},
          {"percent", cost->percent(cost->median)},
          {"percent_interval", std::move(percent_range)},
          {"confidence", 0.95}};
}

json method_json(const method_summary& method, const overhead_summary& summary) {
  json stages = json::array();
  for (std::size_t i = 0; i < method.stages.size(); ++i) {
    stages.push_back({{"name", summary.stages[i]},
                      {"on", to_word(summary.sides[i])},
                      {"measure", key_of(method.stages[i].what)},
                      {"time", figure_json(method.stages[i].time)}});
  }
  return {{"timing", to_word(method.method)},
          {"stage_time_is", meaning_of(method.method)},
          {"end_to_end", figure_json(method.end_to_end)},
          {"stages", std::move(stages)},
          {"overhead", cost_json(method.cost)}};
}

json trial_json(const overhead_trial& trial) {
  auto times = end_to_end_times(trial.record);
  json samples = distribution_json(distribution::of(times), times);
  return {{"block", trial.block},
          {"timing", to_word(trial.record.run.timing)},
          {"end_to_end", std::move(samples)},
          {"interrupted", trial.record.interrupted},
          {"failure", trial.record.failure ? json(*trial.record.failure) : json()}};
}

}  // namespace

std::string overhead_json(const overhead_record& record) {
  const auto summary = summarize(record);
  auto result = json::object();
  result["schema"] = "graphline.overhead/1";
  if (!record.trials.empty()) {
    const auto& first = record.trials.front().record;
    result["pipeline"] = first.pipeline;
    result["device"] = device_json(first.device);
    result["settings"] = settings_json(first);
    result["settings"].erase("timing");
    result["environment"] = texts_json(first.environment);
    if (first.source)
      result["source"] = {{"file", first.source->file}, {"text", first.source->text}};
  }
  if (record.conditions) result["conditions"] = texts_json(facts_of(*record.conditions));
  result["order_seed"] = record.order_seed;
  result["complete_blocks"] = summary.complete_blocks;
  result["trials_left_out"] = summary.trials_left_out;
  json methods = json::array();
  for (const auto& method : summary.methods) methods.push_back(method_json(method, summary));
  result["methods"] = std::move(methods);
  result["warnings"] = summary.warnings;
  result["findings"] = findings_of(summary);
  json trials = json::array();
  for (const auto& trial : record.trials) trials.push_back(trial_json(trial));
  result["trials"] = std::move(trials);
  result["interrupted"] = record.interrupted;
  return json_text(result);
}

std::uint64_t expected_overhead_json_bytes(std::int64_t trials, std::int64_t frames) {
  constexpr std::uint64_t methods = std::size(timing_method_words);
  constexpr std::uint64_t around = 16384;       // device, settings, environment, methods, findings
  constexpr std::uint64_t around_trial = 1024;  // its figures, its medians
  constexpr std::uint64_t sample = sizeof "1234.123456,";
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(trials, 0)) * methods;
  const auto samples = static_cast<std::uint64_t>(std::max<std::int64_t>(frames, 0));
  return around + count * (around_trial + samples * sample);
}

}  // namespace graphline
