#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "framework/analysis/diff/output_diff.hpp"
#include "framework/analysis/experiment/experiment_findings.hpp"

namespace graphline {

namespace {

/// Returns the number of the frame whose outputs the record contains. Empty if frames were dropped,
/// because the number is then unknown.
std::optional<std::size_t> last_frame(const run_record& run) {
  if (!run.load.dropped.empty()) return std::nullopt;
  return static_cast<std::size_t>(run.run.warmup) + run.frames.size();
}

finding not_comparable(std::string why) {
  return finding{"outputs_not_comparable"}.with("why", std::move(why));
}

finding difference_in(const output_change& by, const tensor_type& type) {
  finding made{"checksums_differ", finding_severity::warning};
  made.with("tensor", by.tensor);
  if (by.found == output_fate::other_rows) {
    made.key = "rows_differ";
    return made.with("rows", *by.rows_after).with("reference_rows", *by.rows_before);
  }
  if (by.compared == 0) return made;
  const bool all = static_cast<std::int64_t>(by.compared) == type.shape.elements();
  made.with("compared",
            all ? "its values" : fmt::format("the {} values that were kept", by.compared));
  if (by.largest == 0) return made;
  made.key = "values_differ";
  return made.with("largest", by.largest, unit::none).with("relative", by.relative, unit::none);
}

/// Returns how the outputs of two runs differ; empty if they are equal.
std::optional<finding> disagreement(const run_record& what, const run_record& reference) {
  for (const run_record* each : {&what, &reference}) {
    if (each->outputs.empty() && each->load.cut_short > 0) {
      return not_comparable("the last frames of one were cut short");
    }
  }
  const auto changes = compare(reference.outputs, what.outputs);
  const auto differs_in_values = [](const output_change& of) {
    return of.found == output_fate::differs || of.found == output_fate::other_rows;
  };
  for (const auto& change : changes) {
    if (change.found == output_fate::same || differs_in_values(change)) continue;
    return not_comparable(fmt::format("not both have an output '{}' of one type", change.tensor));
  }
  const auto differs = std::ranges::find_if(changes, differs_in_values);
  if (differs == changes.end()) return std::nullopt;
  if (differs->rows_before.has_value() != differs->rows_after.has_value()) {
    return not_comparable(fmt::format("only one has rows in '{}'", differs->tensor));
  }
  if (!last_frame(what) || last_frame(what) != last_frame(reference)) {
    return not_comparable("they did not end with the same frame");
  }
  if (what.run.seed != reference.run.seed) return not_comparable("the seeds differ");
  const auto output = std::ranges::find(what.outputs, differs->tensor, &output_record::tensor);
  return difference_in(*differs, output->type);
}

/// Returns a tensor whose checksums differ between trials with the same last frame; empty if none.
/// Tensors without rows are equal.
std::string unsteady_tensor(const std::vector<const run_record*>& runs) {
  std::map<std::pair<std::string, std::size_t>, std::string> contents;
  for (const auto* run : runs) {
    const auto last = last_frame(*run);
    if (!last) continue;
    for (const auto& output : run->outputs) {
      const auto content = output.rows == 0 ? "no rows" : output.checksum;
      const auto& known = contents.try_emplace({output.tensor, *last}, content).first->second;
      if (known != content) return output.tensor;
    }
  }
  return "";
}

/// Returns true if all trials completed frames but recorded no outputs.
bool has_no_outputs(const experiment_record& record) {
  return !record.trials.empty() &&
         std::ranges::all_of(record.trials, [](const trial_record& trial) {
           return std::ranges::all_of(trial.members, [](const run_record& run) {
             return !run.frames.empty() && !run.failure && run.outputs.empty();
           });
         });
}

/// Adds findings about the outputs of a pipeline's trials. Returns true if the trials agree.
bool add_own(const finding_source& from, const configuration_member& who, grouped_findings& to) {
  const auto runs = from.runs_of(who);
  const auto warn = [&](std::string_view key, const std::string& tensor) {
    to.add(finding{key, finding_severity::warning}.with("tensor", tensor), who);
  };
  const auto unsteady = unsteady_tensor(runs);
  if (!unsteady.empty()) warn("outputs_vary", unsteady);
  std::set<std::string> not_finite;
  for (const auto* run : runs) {
    for (const auto& output : run->outputs) {
      if (!output.finite) not_finite.insert(output.tensor);
    }
  }
  for (const auto& tensor : not_finite) warn("not_finite", tensor);
  return unsteady.empty();
}

}  // namespace

void add_output_findings(const finding_source& from, std::vector<finding>& to) {
  if (has_no_outputs(from.record)) {
    to.push_back({"no_outputs"});
    return;
  }
  grouped_findings own;
  std::map<configuration_member, bool> steady;
  std::size_t count = 0;
  for (const auto& who : from.labels.all()) {
    steady[who] = add_own(from, who, own);
    count += from.runs_of(who).size();
  }
  grouped_findings differing;
  // A sweep over sizes computes different outputs by design.
  bool all_same = !from.record.pairs.empty() && !(from.swept && changes_cost(*from.swept));
  if (all_same) {
    for (const auto& [what, reference] : from.record.pairs) {
      const auto runs = from.runs_of(what);
      const auto others = from.runs_of(reference);
      const bool comparable = !runs.empty() && !others.empty() && steady[what] && steady[reference];
      const auto found = comparable ? disagreement(*runs.front(), *others.front()) : std::nullopt;
      if (found) {
        differing.add(finding(*found).with("reference", from.labels.of(reference)), what);
      }
      all_same = all_same && comparable && !found;
    }
  }
  if (all_same) to.push_back(finding{"same_outputs"}.with("runs", count));
  for (const auto* groups : {&differing, &own}) {
    for (auto& one : groups->all(from.labels)) to.push_back(std::move(one));
  }
}

}  // namespace graphline
