#include "framework/report/json/diff_json.hpp"

#include <string_view>
#include <utility>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

constexpr double million = 1e6;  // nanoseconds of a millisecond

/// `size`: how much of a value makes one `unit`.
template <class Item>
json list_of(const std::vector<Item>& items, json (*of)(const Item&)) {
  json list = json::array();
  for (const auto& item : items) list.push_back(of(item));
  return list;
}

json change_json(const figure_change& change, std::string_view unit, double size) {
  const auto scaled = [size](const std::optional<double>& value) {
    return value ? json(*value / size) : json();
  };
  const auto relative = change.relative();
  return {{"unit", unit},
          {"before", scaled(change.before)},
          {"after", scaled(change.after)},
          {"change_percent", relative ? json(100 * *relative) : json()}};
}

json origin_json(const saved_origin& origin) {
  return {{"file", origin.file},
          {"subject", origin.subject},
          {"date", origin.date.empty() ? json() : json(origin.date)},
          {"disturbed", origin.disturbed.empty() ? json() : json(origin.disturbed)}};
}

json facts_json(const std::vector<fact_change>& facts) {
  json list = json::array();
  for (const auto& [name, texts] : facts) {
    list.push_back(
        {{"name", name}, {"before", or_null(texts.before)}, {"after", or_null(texts.after)}});
  }
  return list;
}

json beginning_of(const origin_diff& origin) {
  const bool compared = origin.has_source() && origin.source_unknown.empty();
  return {{"schema", "graphline.diff/1"},
          {"of", origin.origins.before.schema},
          {"before", origin_json(origin.origins.before)},
          {"after", origin_json(origin.origins.after)},
          {"differences",
           {{"settings", facts_json(origin.settings)},
            {"device", facts_json(origin.device)},
            {"environment", facts_json(origin.environment)},
            {"source", compared ? facts_json(origin.source) : json()}}}};
}

json interrupted_json(const before_after<bool>& interrupted) {
  return {{"before", interrupted.before}, {"after", interrupted.after}};
}

json failure_json(const before_after<std::optional<std::string>>& failure) {
  return {{"before", or_null(failure.before)}, {"after", or_null(failure.after)}};
}

json measure_json(const std::optional<saved_stage>& stage) {
  return stage && stage->what ? json(key_of(*stage->what)) : json();
}

json stage_json(const stage_change& stage) {
  auto median = change_json(stage.median(), "ms", million);
  if (!stage.same_measure()) median["change_percent"] = json();
  return {{"name", stage.name},
          {"in", {{"before", !!stage.stages.before}, {"after", !!stage.stages.after}}},
          {"measure",
           {{"before", measure_json(stage.stages.before)},
            {"after", measure_json(stage.stages.after)}}},
          {"median", std::move(median)}};
}

std::string_view key_of(output_change::finding found) {
  switch (found) {
    case output_change::finding::same:
      return "same";
    case output_change::finding::differs:
      return "differs";
    case output_change::finding::other_type:
      return "other_type";
    case output_change::finding::only_before:
      return "only_before";
    case output_change::finding::only_after:
      return "only_after";
  }
  return "?";
}

json output_json(const output_change& output) {
  return {{"tensor", output.tensor},
          {"found", key_of(output.found)},
          {"values_compared", output.compared},
          {"largest_difference", or_null(output.largest)},
          {"of_largest_value", or_null(output.relative)},
          {"finite", {{"before", output.finite.before}, {"after", output.finite.after}}}};
}

json configuration_json(const configuration_change& change) {
  const bool frames = change.figure == figure::throughput;
  auto result = change_json(change.values, frames ? "frame/s" : "ms", frames ? 1 : million);
  const auto percent = [](double ratio) { return 100 * (ratio - 1); };
  json range;
  if (change.ratio_range) {
    range = {percent(change.ratio_range->low), percent(change.ratio_range->high)};
  }
  json named = {{"configuration", change.name}, {"figure", to_word(change.figure)}};
  named.update(result);
  named["change_interval_percent"] = std::move(range);
  named["verdict"] = to_word(change.verdict);
  named["trials"] = {{"before", change.trials.before}, {"after", change.trials.after}};
  return named;
}

}  // namespace

std::string diff_json(const run_diff& diff) {
  json result = beginning_of(diff.origin);
  json end_to_end = {{"mean", change_json(diff.mean(), "ms", million)}};
  for (const auto& [name, p] : shown_percentiles) {
    end_to_end[std::string(name)] = change_json(diff.percentile(p), "ms", million);
  }
  result["end_to_end"] = std::move(end_to_end);
  result["throughput"] = change_json(diff.throughput, "frame/s", 1);
  result["deadline_missed"] = change_json(diff.missed, "% of frames", 0.01);
  result["memory"] = {{"device_peak", change_json(diff.device_peak_bytes, "B", 1)},
                      {"pinned_peak", change_json(diff.pinned_peak_bytes, "B", 1)}};
  result["stages"] = list_of(diff.stages, stage_json);
  result["outputs"] = list_of(diff.outputs, output_json);
  result["interrupted"] = interrupted_json(diff.interrupted);
  result["failure"] = failure_json(diff.failure);
  return json_text(result);
}

std::string diff_json(const experiment_diff& diff) {
  json result = beginning_of(diff.origin);
  result["margin"] = diff.margin;
  result["confidence"] = 0.95;
  result["tail"] = {{"before", diff.tail.before}, {"after", diff.tail.after}};
  result["changes"] = list_of(diff.changes, configuration_json);
  result["only_before"] = diff.only_before;
  result["only_after"] = diff.only_after;
  result["interrupted"] = interrupted_json(diff.interrupted);
  return json_text(result);
}

}  // namespace graphline
