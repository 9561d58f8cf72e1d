#include "framework/report/json/experiment_figures_json.hpp"

#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

json range_json(const std::optional<interval>& range, bool in_ms = false) {
  if (!range) return {};
  if (in_ms) return {milliseconds(range->low), milliseconds(range->high)};
  return {range->low, range->high};
}

json end_to_end_json(const member_summary& member) {
  auto result = distribution_json(member.end_to_end);
  result["tail"] = member.tail ? json(milliseconds(*member.tail)) : json();
  result["between_trials"] =
      member.between_trials ? json(milliseconds(*member.between_trials)) : json();
  json medians = json::array();
  for (const double median : member.trial_medians) medians.push_back(milliseconds(median));
  result["trial_medians"] = std::move(medians);
  return result;
}

json stage_json(const member_summary::stage& stage) {
  json result = {{"name", stage.name}, {"on", to_word(stage.on)}};
  if (stage.what) result[std::string(key_of(*stage.what))] = distribution_json(stage.times);
  return result;
}

/// The run that tells how a member of a configuration is set; null before it has run.
const run_record* first_run(const experiment_record& record, std::size_t configuration,
                            std::size_t member) {
  for (const auto& trial : record.trials) {
    if (trial.configuration == configuration) return &trial.members[member];
  }
  return nullptr;
}

json member_json(const member_summary& member, const run_record* run) {
  json stages = json::array();
  for (const auto& stage : member.stages) stages.push_back(stage_json(stage));
  json result = {
      {"name", member.name},
      {"settings", run != nullptr ? settings_json(*run) : json()},
      {"trials", member.trials},
      {"end_to_end", end_to_end_json(member)},
      {"throughput", {{"unit", "frame/s"}, {"value", or_null(member.throughput)}}},
      {"stages", std::move(stages)},
      {"due", member.due},
      {"dropped", member.dropped},
      {"memory", {{"device_bytes", member.device_bytes}}},
      {"cores", or_null(member.cores)},
  };
  if (member.deadline) result["deadline"] = deadline_json(*member.deadline);
  return result;
}

json pair_json(const experiment_record& record, const compared_pair& pair) {
  const auto& what = record.configurations[pair.what.configuration];
  const auto& reference = record.configurations[pair.reference.configuration];
  return {{"configuration", what.name},
          {"member", what.members[pair.what.member]},
          {"reference", reference.name},
          {"reference_member", reference.members[pair.reference.member]}};
}

json comparison_json(const experiment_record& record, const comparison& found) {
  const bool time = found.figure != figure::throughput;
  const auto value = [&](double number) { return time ? milliseconds(number) : number; };
  auto result = pair_json(record, found.pair);
  result["figure"] = to_word(found.figure);
  result["unit"] = time ? "ms" : "frame/s";
  result["value"] = value(found.value);
  result["reference_value"] = value(found.reference);
  result["difference"] = value(found.difference);
  result["difference_interval"] = range_json(found.difference_range, time);
  result["ratio"] = found.ratio;
  result["ratio_interval"] = range_json(found.ratio_range);
  result["confidence"] = 0.95;
  result["verdict"] = to_word(found.verdict);
  result["more_trials"] = or_null(found.more_trials);
  return result;
}

}  // namespace

json configurations_json(const experiment_record& record, const experiment_summary& summary) {
  json list = json::array();
  for (std::size_t i = 0; i < record.configurations.size(); ++i) {
    const auto& configuration = record.configurations[i];
    json assignments = json::object();
    json assigned = json::array();
    for (const auto& [key, value] : configuration.assignments) {
      assignments[key] = typed(value);
      assigned.push_back({key, value});
    }
    json members = json::array();
    const auto& summaries = summary.configurations[i].members;
    for (std::size_t m = 0; m < summaries.size(); ++m) {
      members.push_back(member_json(summaries[m], first_run(record, i, m)));
    }
    list.push_back({{"id", experiment_labels::id(i)},
                    {"name", configuration.name},
                    {"assignments", std::move(assignments)},
                    {"members", std::move(members)},
                    {"assigned", std::move(assigned)}});
  }
  return list;
}

json comparisons_json(const experiment_record& record, const experiment_summary& summary) {
  json list = json::array();
  for (const auto& found : summary.comparisons) list.push_back(comparison_json(record, found));
  return list;
}

json stage_comparisons_json(const experiment_record& record, const experiment_summary& summary) {
  json list = json::array();
  for (const auto& found : summary.stage_comparisons) {
    const auto& [configuration, member] = found.pair.what;
    const auto& stages = summary.configurations[configuration].members[member].stages;
    auto result = pair_json(record, found.pair);
    result["stage"] = stages[found.stage].name;
    result["unit"] = "ms";
    result["difference"] = milliseconds(found.difference);
    result["ratio"] = found.ratio;
    result["ratio_interval"] = range_json(found.ratio_range);
    result["confidence"] = 0.95;
    result["verdict"] = to_word(found.verdict);
    list.push_back(std::move(result));
  }
  return list;
}

json steadiness_json(const steadiness& machine) {
  return {{"drift", or_null(machine.drift)}, {"affected_blocks", machine.affected_blocks}};
}

}  // namespace graphline
