#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/base/units.hpp"
#include "framework/report/html/experiment_data_parts.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

const member_summary::stage* find_stage(const member_summary& member, const std::string& name) {
  const auto found = std::find_if(member.stages.begin(), member.stages.end(),
                                  [&](const auto& s) { return s.name == name && s.times; });
  return found == member.stages.end() ? nullptr : &*found;
}

std::optional<double> p50_of(const member_summary::stage* stage) {
  if (stage == nullptr) return std::nullopt;
  const auto p50 = stage->times->percentile(0.5);
  return p50 ? std::optional(static_cast<double>(*p50)) : std::nullopt;
}

/// A stage in all configurations of its pipeline. Under different timing methods its times are
/// times of different things: each is in a unit of its own then, with the word for what it is.
json stage_row(const experiment_source& from, const std::vector<configuration_member>& where,
               const std::string& name) {
  std::vector<const member_summary::stage*> stages;
  double most = 0;
  std::optional<measure> first;
  bool of_one_kind = true;
  for (const auto& who : where) {
    const auto* stage = stages.emplace_back(find_stage(from.of(who), name));
    if (stage == nullptr) continue;
    most = std::max(most, p50_of(stage).value_or(0));
    of_one_kind = of_one_kind && (!first || first == stage->what);
    first = stage->what;
  }
  const auto unit = unit_for(most);
  json cells = json::array();
  json measures = json::array();
  json values = json::array();
  for (const auto* stage : stages) {
    const auto p50 = p50_of(stage);
    values.push_back(or_null(p50));
    measures.push_back(stage != nullptr && stage->what ? json(short_name(*stage->what)) : json());
    cells.push_back(of_one_kind ? in_unit(p50, unit) : p50 ? format_duration(*p50) : "-");
  }
  return {{"name", name},
          {"unit", of_one_kind ? json(unit.name) : json()},
          {"p50", std::move(values)},
          {"measures", std::move(measures)},
          {"cells", std::move(cells)}};
}

/// In the order in which configurations name them: a parameter may give one stages that others
/// lack.
std::vector<std::string> stage_names(const experiment_source& from,
                                     const std::vector<configuration_member>& where) {
  std::vector<std::string> names;
  for (const auto& who : where) {
    for (const auto& stage : from.of(who).stages) {
      if (stage.times && std::find(names.begin(), names.end(), stage.name) == names.end()) {
        names.push_back(stage.name);
      }
    }
  }
  return names;
}

json change_data(const experiment_source& from, const stage_comparison& found, std::size_t stage) {
  const auto& range = found.ratio_range;
  return {{"who", from.place_of(found.pair.what)},
          {"reference", from.place_of(found.pair.reference)},
          {"stage", stage},
          {"difference", found.difference},
          {"ratio", found.ratio},
          {"ratio_range", range ? json({range->low, range->high}) : json()},
          {"verdict", to_word(found.verdict)},
          {"cells",
           {{"change", percent_change(found.ratio) + " %"},
            {"interval", range ? fmt::format("{} to {}", percent_change(range->low),
                                             percent_change(range->high))
                               : "-"}}}};
}

json pipeline_data(const experiment_source& from, const std::string& pipeline) {
  std::vector<configuration_member> where;
  json places = json::array();
  for (const auto& who : from.rows.members()) {
    if (from.of(who).name != pipeline) continue;
    where.push_back(who);
    places.push_back(from.place_of(who));
  }
  const auto names = stage_names(from, where);
  if (names.empty()) return {};
  json stages = json::array();
  for (const auto& name : names) stages.push_back(stage_row(from, where, name));
  json changes = json::array();
  for (const auto& found : from.summary.stage_comparisons) {
    const auto& member = from.of(found.pair.what);
    if (member.name != pipeline) continue;
    const auto stage = std::find(names.begin(), names.end(), member.stages[found.stage].name);
    changes.push_back(change_data(from, found, static_cast<std::size_t>(stage - names.begin())));
  }
  return {{"pipeline", pipeline},
          {"where", std::move(places)},
          {"stages", std::move(stages)},
          {"changes", std::move(changes)}};
}

}  // namespace

json stage_data(const experiment_source& from) {
  std::vector<std::string> pipelines;
  json list = json::array();
  for (const auto& configuration : from.summary.configurations) {
    for (const auto& member : configuration.members) {
      if (std::find(pipelines.begin(), pipelines.end(), member.name) != pipelines.end()) continue;
      pipelines.push_back(member.name);
      auto data = pipeline_data(from, member.name);
      if (!data.is_null()) list.push_back(std::move(data));
    }
  }
  return list;
}

}  // namespace graphline
