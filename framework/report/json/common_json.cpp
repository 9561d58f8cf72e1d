#include "framework/report/json/common_json.hpp"

#include "framework/analysis/stats/distribution.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

}  // namespace

json ms_or_null(const std::optional<double>& ns) {
  return ns ? json(milliseconds(*ns)) : json();
}

json distribution_json(const std::optional<distribution>& times) {
  auto result = json::object();
  result["unit"] = "ms";
  result["count"] = times ? times->count() : 0;
  const bool settled = times && times->why_unsettled().empty();
  result["mean"] = settled ? json(milliseconds(times->mean())) : json();
  result["stddev"] = settled ? ms_or_null(times->stddev()) : json();
  result["min"] = times ? json(milliseconds(times->min())) : json();
  json needs = json::object();
  for (const auto& [name, p] : shown_percentiles) {
    const auto value = times ? times->percentile(p) : std::nullopt;
    result[std::string(name)] = value ? json(milliseconds(*value)) : json();
    if (!value && (settled || !times)) needs[std::string(name)] = samples_needed(p);
  }
  result["max"] = times ? json(milliseconds(times->max())) : json();
  if (times && !settled) result["why_absent"] = times->why_unsettled();
  if (!needs.empty()) result["needs"] = std::move(needs);
  return result;
}

json texts_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json result = json::object();
  for (const auto& [name, text] : pairs) result[name] = text;
  return result;
}

}  // namespace graphline
