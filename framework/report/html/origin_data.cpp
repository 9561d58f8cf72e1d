#include "framework/report/html/origin_data.hpp"

#include <string>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/report/json/common_json.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

using texts = std::vector<std::pair<std::string, std::string>>;

/// An object as rows, what is nested in it as "params.batch".
void add_rows(json& rows, const json& object, const std::string& before = {}) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      add_rows(rows, value, before + name + ".");
    } else {
      rows.push_back({before + name, value.is_string() ? value : json(value.dump())});
    }
  }
}

json rows_of(const json& object) {
  json rows = json::array();
  add_rows(rows, object);
  return rows;
}

json sources_data(const std::vector<source_record>& sources) {
  json list = json::array();
  for (const auto& source : sources) {
    list.push_back({{"file", source.file}, {"text", source.text}});
  }
  return list;
}

/// With what was known of the machine over the frames.
json environment_rows(const run_record& record) {
  auto facts = record.environment;
  if (record.conditions) {
    for (auto& fact : facts_of(*record.conditions)) facts.push_back(std::move(fact));
  }
  return rows_of(texts_json(facts));
}

json origin_of(const run_record& record, const std::vector<source_record>& sources) {
  return {{"settings", rows_of(settings_json(record))},
          {"device", rows_of(device_json(record.device))},
          {"environment", environment_rows(record)},
          {"sources", sources_data(sources)}};
}

}  // namespace

json origin_data(const run_record& record) {
  return origin_of(record,
                   record.source ? std::vector{*record.source} : std::vector<source_record>());
}

json origin_data(const experiment_record& record) {
  if (record.trials.empty()) return {{"sources", sources_data(record.sources)}};
  auto origin = origin_of(record.trials.front().members.front(), record.sources);
  origin.erase("settings");  // each configuration has its own
  return origin;
}

}  // namespace graphline
