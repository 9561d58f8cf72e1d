#include "framework/report/json/common_json.hpp"

#include <type_traits>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/spec/settings_table.hpp"

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

json device_json(const device_properties& device) {
  return {{"backend", device.backend},
          {"name", device.name},
          {"memory_bytes", device.memory_bytes},
          {"compute_threads", device.compute_threads},
          {"priority_levels", device.priority_levels},
          {"details", texts_json(device.details)}};
}

json settings_json(const settings& run,
                   const std::vector<std::pair<std::string, std::string>>& parameters) {
  json result = json::object();
  each_setting([&]<class Held>(Held settings::*member, const setting_entry& of) {
    const auto& value = run.*member;
    if (!applies(of, run)) return;
    if constexpr (std::is_enum_v<Held>) {
      result[of.key] = to_word(value);
    } else if constexpr (std::is_same_v<Held, std::optional<nanoseconds>>) {
      if (value) result[of.key + std::string("_ms")] = milliseconds(*value);
    } else if constexpr (std::is_same_v<Held, std::optional<double>>) {
      if (value) result[of.key] = *value;
    } else {
      result[of.key] = value;
    }
  });
  result["params"] = json::object();
  for (const auto& [name, value] : parameters) result["params"][name] = typed(value);
  return result;
}

json texts_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json result = json::object();
  for (const auto& [name, text] : pairs) result[name] = text;
  return result;
}

}  // namespace graphline
