#include "framework/analysis/experiment/experiment_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/overload.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"

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

bool finding_source::differ_only_in(const compared_pair& pair, std::string_view key) const {
  const auto as_map = [&](std::size_t configuration) {
    const auto& assignments = record.configurations[configuration].assignments;
    return std::map<std::string, std::string>(assignments.begin(), assignments.end());
  };
  auto what = as_map(pair.what.configuration);
  auto reference = as_map(pair.reference.configuration);
  const auto& member = record.configurations[pair.what.configuration].members[pair.what.member];
  bool set_apart = false;
  for (const std::string& name : {std::string(key), fmt::format("{}.{}", member, key)}) {
    set_apart = set_apart || what[name] != reference[name];
    what.erase(name);
    reference.erase(name);
  }
  return set_apart && what == reference;
}

namespace {

bool read_the_same(const finding& a, const finding& b) {
  const auto alike = [](const auto& x, const auto& y) {
    const auto* number = std::get_if<quantity>(&x.second);
    const auto* other = std::get_if<quantity>(&y.second);
    if (x.first != y.first || (number == nullptr) != (other == nullptr)) return false;
    return number != nullptr ? to_text(*number) == to_text(*other) : x.second == y.second;
  };
  return a.key == b.key && std::ranges::equal(a.figures, b.figures, alike);
}

}  // namespace

void grouped_findings::add(finding what, const configuration_member& who) {
  auto known =
      std::ranges::find_if(groups_, [&](const auto& g) { return read_the_same(g.first, what); });
  if (known == groups_.end()) known = groups_.insert(known, {std::move(what), {}});
  auto& members = known->second;
  if (std::ranges::find(members, who) == members.end()) members.push_back(who);
}

std::vector<finding> grouped_findings::all(const experiment_labels& labels) const {
  std::vector<finding> list;
  for (const auto& [what, members] : groups_) {
    list.push_back(what);
    for (const auto& who : members) list.back().subjects.push_back(labels.of(who));
    list.back().with("configurations", labels.list(members));
  }
  return list;
}

void grouped_findings::add_as_cases(finding of, const experiment_labels& labels,
                                    std::vector<finding>& to) const {
  if (groups_.empty()) return;
  of.cases = all(labels);
  to.push_back(std::move(of));
}

namespace {

void add_overload_findings(const finding_source& from, std::vector<finding>& to) {
  grouped_findings cases;
  for (const auto& who : from.labels.all()) {
    const auto& member = from.summary.configurations[who.configuration].members[who.member];
    if (!member.overload) continue;
    auto rates = overload_finding({member.overload->offered, member.overload->completed, 0, {}});
    rates.key = "rates_of";
    cases.add(std::move(rates), who);
  }
  cases.add_as_cases({"overloaded_in", finding_severity::failure}, from.labels, to);
}

/// Formats block numbers, counted from 1: "block 3", "blocks 4 and 8".
std::string listed_blocks(const std::vector<std::size_t>& blocks) {
  std::vector<std::string> numbers;
  for (const auto block : blocks) numbers.push_back(fmt::to_string(block + 1));
  return fmt::format("block{} {}", blocks.size() == 1 ? "" : "s", listed(numbers, 8));
}

void add_machine_findings(const finding_source& from, std::vector<finding>& to) {
  const auto& record = from.record;
  const auto& machine = from.summary.machine;
  const auto add = [&](std::string_view key) -> finding& {
    return to.emplace_back(finding{key, finding_severity::warning});
  };
  if (machine.drift) {
    add("machine_drifted").with("change", *machine.drift, unit::change);
  }
  if (!machine.affected_blocks.empty()) {
    add("disturbed_blocks")
        .with("blocks", listed_blocks(machine.affected_blocks))
        .with("consequence", record.how.repeat_affected
                                 ? "left out"
                                 : "still counted ('repeat_affected: on' would repeat them)");
  }
  if (!machine.stood_still_blocks.empty()) {
    add("stood_still_blocks").with("blocks", listed_blocks(machine.stood_still_blocks));
  }
  std::size_t disturbed = 0;
  std::string first;
  for (const auto& trial : record.trials) {
    std::vector<std::string> by;
    for (const auto& run : trial.members) {
      if (by.empty() && run.conditions) by = disturbances_of(*run.conditions);
    }
    if (!by.empty() && ++disturbed == 1) first = fmt::format("{}", fmt::join(by, "; "));
  }
  if (disturbed > 0) {
    add("disturbed_trials")
        .with("disturbed", disturbed)
        .with("trials", record.trials.size())
        .with("by", first);
  }
}

void add_trial_warnings(const finding_source& from, std::vector<finding>& to) {
  grouped_findings found;
  for (const auto& who : from.labels.all()) {
    for (const auto& trial : from.record.trials) {
      if (trial.configuration != who.configuration || who.member >= trial.members.size()) continue;
      for (const auto& warning : trial.members[who.member].warnings) {
        found.add(finding{"trial_warning", finding_severity::warning}.with("text", warning), who);
      }
    }
  }
  for (auto& one : found.all(from.labels)) to.push_back(std::move(one));
}

}  // namespace

std::vector<finding> findings_of(const experiment_record& record, const experiment_summary& summary,
                                 const std::optional<sweep>& swept) {
  const finding_source from{record, summary, swept, experiment_labels(record.configurations)};
  std::vector<finding> findings;
  add_overload_findings(from, findings);
  add_timing_findings(from, findings);
  if (!record.prediction) add_output_findings(from, findings);  // virtual time computes nothing
  add_priority_findings(from, findings);
  add_scheduling_findings(from, findings);
  add_chain_findings(from, findings);
  add_overlap_findings(from, findings);
  add_machine_findings(from, findings);
  add_trial_warnings(from, findings);
  return findings;
}

}  // namespace graphline
