#include "framework/analysis/experiment/experiment_findings.hpp"

#include <algorithm>
#include <map>

#include "framework/analysis/experiment/finding_parts.hpp"

namespace graphline {

std::vector<const run_record*> finding_source::runs_of(const configuration_member& what) const {
  std::vector<const run_record*> runs;
  for (const auto& trial : record.trials) {
    if (trial.configuration != what.configuration || what.member >= trial.members.size()) continue;
    const auto& run = trial.members[what.member];
    if (!run.frames.empty() && !run.failure && !run.interrupted) runs.push_back(&run);
  }
  return runs;
}

const member_summary* finding_source::summary_of(const configuration_member& what) const {
  if (what.configuration >= summary.configurations.size()) return nullptr;
  const auto& members = summary.configurations[what.configuration].members;
  return what.member < members.size() ? &members[what.member] : nullptr;
}

bool finding_source::differ_only_in(const compared_pair& pair, std::string_view key) const {
  const auto as_map = [&](std::size_t configuration) {
    const auto& assignments = record.configurations[configuration].assignments;
    return std::map<std::string, std::string>(assignments.begin(), assignments.end());
  };
  auto what = as_map(pair.what.configuration);
  auto reference = as_map(pair.reference.configuration);
  const std::string name(key);
  const bool set_apart = what[name] != reference[name];
  what.erase(name);
  reference.erase(name);
  return set_apart && what == reference;
}

void grouped_texts::add(const std::string& text, const configuration_member& who) {
  auto known =
      std::find_if(groups_.begin(), groups_.end(), [&](const group& g) { return g.first == text; });
  if (known == groups_.end()) known = groups_.insert(known, {text, {}});
  auto& names = known->second;
  if (std::find(names.begin(), names.end(), who) == names.end()) names.push_back(who);
}

std::vector<std::string> findings_of(const experiment_record& record,
                                     const experiment_summary& summary) {
  const finding_source from{record, summary, experiment_labels(record.configurations)};
  findings_list findings;
  add_overload_findings(from, findings);
  add_timing_findings(from, findings);
  add_sweep_findings(from, findings);
  add_output_findings(from, findings);
  add_together_findings(from, findings);
  add_priority_findings(from, findings);
  add_overlap_findings(from, findings);
  add_load_findings(from, findings);
  add_launch_findings(from, findings);
  add_waiting_findings(from, findings);
  add_machine_findings(from, findings);
  return findings;
}

}  // namespace graphline
