#include "framework/report/html/experiment_data.hpp"

#include <algorithm>

#include "framework/report/html/experiment_data_parts.hpp"
#include "framework/report/html/origin_data.hpp"
#include "framework/report/terminal/experiment_cells.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

std::optional<double> p50_of(const member_summary& member) {
  const auto p50 = member.end_to_end ? member.end_to_end->percentile(0.5) : std::nullopt;
  return p50 ? std::optional(static_cast<double>(*p50)) : std::nullopt;
}

std::optional<double> tail_of(const member_summary& member) {
  return member.tail ? std::optional(static_cast<double>(*member.tail)) : std::nullopt;
}

time_unit unit_of(const experiment_summary& summary, const experiment_rows& rows) {
  double most = 0;
  for (const auto& who : rows.members()) {
    const auto& member = summary.configurations[who.configuration].members[who.member];
    most = std::max(most, p50_of(member).value_or(0));
  }
  return unit_for(most);
}

/// How a pipeline of a configuration was set, as rows of names and texts; none before it has run.
json settings_of(const experiment_record& record, const configuration_member& who) {
  for (const auto& trial : record.trials) {
    if (trial.configuration != who.configuration || who.member >= trial.members.size()) continue;
    return origin_data(trial.members[who.member])["settings"];
  }
  return json::array();
}

json member_data(const experiment_source& from, const configuration_member& who) {
  const auto& member = from.of(who);
  const auto& configuration = from.record.configurations[who.configuration];
  const auto p50 = p50_of(member);
  const auto tail = tail_of(member);
  json assignments = json::array();
  for (const auto& [key, value] : configuration.assignments) {
    assignments.push_back({key, value});
  }
  return {{"label", from.rows.labels().of(who)},
          {"names", from.rows.full_names(who)},
          {"id", experiment_labels::id(who.configuration)},
          {"configuration", configuration.name},
          {"pipeline", member.name},
          {"baseline", from.rows.is_baseline(who)},
          {"trials", member.trials},
          {"frames", member.end_to_end ? member.end_to_end->count() : 0},
          {"p50", or_null(p50)},
          {"tail", or_null(tail)},
          {"throughput", or_null(member.throughput)},
          {"cells",
           {{"p50", in_unit(p50, from.unit)},
            {"tail", in_unit(tail, from.unit)},
            {"throughput", member.throughput ? three_digits(*member.throughput, 3) : "-"}}},
          {"trial_medians", member.trial_medians},
          {"between_trials", or_null(member.between_trials)},
          {"assignments", std::move(assignments)},
          {"settings", settings_of(from.record, who)}};
}

json groups_data(const experiment_source& from) {
  json groups = json::array();
  for (const auto& group : from.rows.groups()) {
    json rows = json::array();
    for (const auto& row : group) {
      rows.push_back(
          {{"who", from.place_of(row.who)},
           {"reference", row.pair == nullptr ? json() : json(from.place_of(row.pair->reference))}});
    }
    groups.push_back(std::move(rows));
  }
  return groups;
}

}  // namespace

std::size_t experiment_source::place_of(const configuration_member& who) const {
  std::size_t place = who.member;
  for (std::size_t c = 0; c < who.configuration; ++c) {
    place += record.configurations[c].members.size();
  }
  return place;
}

json experiment_data(const experiment_record& record, const experiment_summary& summary) {
  const experiment_rows rows(record);
  const experiment_source from{record, summary, rows, unit_of(summary, rows)};
  const auto members = rows.members();
  json list = json::array();
  for (const auto& who : members) list.push_back(member_data(from, who));
  json costs = {{"headings", json::array()}, {"rows", json::array()}};
  if (!members.empty()) {
    auto found = costs_of(summary, members);
    costs = {{"headings", std::move(found.headings)}, {"rows", std::move(found.rows)}};
  }
  return {{"tail", percentile_name(record.how.tail)},
          {"margin", record.how.margin},
          {"unit", {{"name", from.unit.name}, {"ns", from.unit.nanoseconds}}},
          {"headings", rows.full_headings()},
          {"several_at_once", rows.several_at_once()},
          {"by_id", rows.labels().by_id()},
          {"counted_blocks", summary.counted_blocks},
          {"members", std::move(list)},
          {"costs", std::move(costs)},
          {"groups", groups_data(from)},
          {"comparisons", comparison_data(from)},
          {"stages", stage_data(from)},
          {"sweep", sweep_data(from)},
          {"trials", trial_data(from)},
          {"affected", summary.machine.affected_blocks},
          {"distributions", distribution_data(from)}};
}

}  // namespace graphline
