#include "framework/report/json/diff_json.hpp"

#include <string_view>
#include <utility>

#include "framework/analysis/experiment/comparison_text.hpp"
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
