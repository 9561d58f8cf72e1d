#include "framework/analysis/experiment/experiment_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

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

/// Of those of which more than half of the runs were overloaded; rates are medians over these.
void add_overload_findings(const finding_source& from, std::vector<finding>& to) {
  grouped_findings cases;
  for (const auto& who : from.labels.all()) {
    const auto runs = from.runs_of(who);
    std::vector<double> offered;
    std::vector<double> completed;
    for (const auto* run : runs) {
      const auto found = overload_of(*run);
      if (!found) continue;
      offered.push_back(found->offered);
      completed.push_back(found->completed);
    }
    if (2 * offered.size() <= runs.size()) continue;
    overload typical;
    typical.offered = median_of(offered);
    typical.completed = median_of(completed);
    auto rates = overload_finding(typical);
    rates.key = "rates_of";
    cases.add(std::move(rates), who);
  }
  cases.add_as_cases({"overloaded_in", finding_severity::failure}, from.labels, to);
}

finding frames_of(std::size_t frames, std::size_t due) {
  return finding{"frames_of"}.with("frames", frames).with("due", due);
}

/// How many frames of an open loop found the queue full, where it does not drop them.
std::optional<finding> full_queue_of(const std::vector<const run_record*>& runs) {
  if (runs.empty() || runs.front()->run.arrival == arrival::closed) return std::nullopt;
  std::size_t found_full = 0;
  std::size_t due = 0;
  std::size_t dropped = 0;
  for (const auto* run : runs) {
    dropped += run->load.dropped.size();
    found_full += static_cast<std::size_t>(run->load.found_full);
    due += run->frames.size() + run->load.dropped.size();
  }
  // Where a full queue drops, these are the dropped ones once more.
  if (found_full <= dropped) return std::nullopt;
  return frames_of(found_full, due);
}

/// Frames dropped or late.
void add_load_findings(const finding_source& from, std::vector<finding>& to) {
  grouped_findings dropped;
  grouped_findings full;
  grouped_findings late;
  for (const auto& who : from.labels.all()) {
    if (auto found = full_queue_of(from.runs_of(who))) full.add(std::move(*found), who);
    const auto* summary = from.summary_of(who);
    if (summary == nullptr) continue;
    if (summary->dropped > 0) dropped.add(frames_of(summary->dropped, summary->due), who);
    const auto& deadline = summary->deadline;
    if (!deadline || !summary->end_to_end) continue;
    if (deadline->missed == 0 || !deadline->median_late) continue;
    late.add(frames_of(deadline->missed, summary->end_to_end->count())
                 .with("median_late", *deadline->median_late, unit::duration),
             who);
  }
  dropped.add_as_cases({"frames_dropped", finding_severity::warning}, from.labels, to);
  full.add_as_cases({"queue_full"}, from.labels, to);
  late.add_as_cases({"late_frames"}, from.labels, to);
}

/// Over all frames of all trials. Nothing for a stage that is not bound by its launches, was not
/// timed that way, or is so short beside a frame that it matters to nobody, as copies of a few
/// bytes are.
std::optional<launch_times> bound_stage(const std::vector<const run_record*>& runs,
                                        std::string_view name) {
  std::vector<double> frame;
  std::vector<double> enqueue;
  std::vector<double> device;
  bool busy = false;
  const auto add = [](std::vector<double>& to, const std::vector<nanoseconds>& times) {
    to.insert(to.end(), times.begin(), times.end());
  };
  for (const auto* run : runs) {
    for (const auto& of : run->frames) frame.push_back(static_cast<double>(of.end - of.begin));
    for (const auto& stage : run->stages) {
      if (stage.name != name) continue;
      add(enqueue, lengths(stage.enqueued));
      add(device, device_times(stage));
      busy = !stage.busy.empty();
    }
  }
  if (enqueue.empty() || device.empty()) return std::nullopt;
  const launch_times times{mean_of(enqueue), mean_of(device), busy};
  constexpr double noticeable = 0.02;
  const bool matters = std::max(times.enqueue, times.device) >= noticeable * mean_of(frame);
  return matters && is_launch_bound(times) ? std::optional(times) : std::nullopt;
}

/// The stage whose device time is most bound by its launches, where one is.
void add_launch_findings(const finding_source& from, std::vector<finding>& to) {
  struct bound_everywhere {
    std::vector<configuration_member> where;
    configuration_member worst_in;
    launch_times worst;  ///< by their ratio
  };
  std::map<std::string, bound_everywhere> found;
  for (const auto& who : from.labels.all()) {
    const auto runs = from.runs_of(who);
    if (runs.empty()) continue;
    for (const auto& stage : runs.front()->stages) {
      const auto times = bound_stage(runs, stage.name);
      if (!times) continue;
      auto& known = found[stage.name];
      known.where.push_back(who);
      const bool worst = known.where.size() == 1 || is_more_launch_bound(*times, known.worst);
      if (worst) std::tie(known.worst_in, known.worst) = std::pair(who, *times);
    }
  }
  if (found.empty()) return;
  const auto& [stage, most] = *std::ranges::max_element(found, [](const auto& a, const auto& b) {
    return is_more_launch_bound(b.second.worst, a.second.worst);
  });
  auto made = launch_bound_finding(stage, most.worst, found.size());
  made.with("configurations", from.labels.list(most.where));
  if (most.where.size() > 1) made.with("worst_in", from.labels.of(most.worst_in));
  to.push_back(std::move(made));
}

/// Whose p50 tells how the machine was: "the baseline".
std::string judge_of(const experiment_record& record) {
  if (record.pairs.empty()) return "the pipeline";
  const auto other = [&](const compared_pair& pair) {
    return pair.reference != record.pairs.front().reference;
  };
  return std::ranges::any_of(record.pairs, other) ? "the median baseline" : "the baseline";
}

/// A machine that did not keep still.
void add_machine_findings(const finding_source& from, std::vector<finding>& to) {
  const auto& record = from.record;
  const auto& machine = from.summary.machine;
  const auto add = [&](std::string_view key) -> finding& {
    return to.emplace_back(finding{key, finding_severity::warning});
  };
  if (machine.drift) {
    add("machine_drifted")
        .with("judge", judge_of(record))
        .with("change", *machine.drift, unit::change);
  }
  if (!machine.affected_blocks.empty()) {
    std::vector<std::string> numbers;
    for (const auto block : machine.affected_blocks) numbers.push_back(fmt::to_string(block + 1));
    add("disturbed_blocks")
        .with("blocks", listed(numbers, 8))
        .with("judge", judge_of(record))
        .with("consequence",
              record.how.repeat_affected
                  ? "left out"
                  : "counted all the same ('repeat_affected: on' would repeat them)");
  }
  const auto disturbed = disturbed_trials_of(record);
  if (disturbed.count > 0) {
    add("disturbed_trials")
        .with("disturbed", disturbed.count)
        .with("trials", record.trials.size())
        .with("by", disturbed.first);
  }
}

/// What the trials' runs warned of, in their own words.
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
  if (swept) add_findings(*swept, findings);
  add_output_findings(from, findings);
  add_together_findings(from, findings);
  add_priority_findings(from, findings);
  add_overlap_findings(from, findings);
  add_load_findings(from, findings);
  add_launch_findings(from, findings);
  add_waiting_findings(from, findings);
  add_machine_findings(from, findings);
  add_trial_warnings(from, findings);
  return findings;
}

}  // namespace graphline
