#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "framework/analysis/diff/output_diff.hpp"
#include "framework/analysis/experiment/experiment_findings.hpp"

namespace graphline {

namespace {

/// Which frame's outputs a run ended with; nothing where frames were dropped, since then the last
/// one that ran need not be the last one.
std::optional<std::size_t> last_frame(const run_record& run) {
  if (!run.load.dropped.empty()) return std::nullopt;
  return static_cast<std::size_t>(run.run.warmup) + run.frames.size();
}

const tensor_type& type_of(const std::string& tensor, const run_record& run) {
  return std::ranges::find(run.outputs, tensor, &output_record::tensor)->type;
}

finding not_comparable(std::string why) {
  return finding{"outputs_not_comparable"}.with("why", std::move(why));
}

/// How two runs' outputs of different checksums differ.
finding difference_in(const output_change& by, const tensor_type& type) {
  finding made{"checksums_differ", finding_severity::warning};
  made.with("tensor", by.tensor);
  if (by.compared == 0) return made;
  const bool all = static_cast<std::int64_t>(by.compared) == type.shape.elements();
  made.with("compared",
            all ? "its values" : fmt::format("the {} values that were kept", by.compared));
  if (by.largest == 0) return made;
  made.key = "values_differ";
  return made.with("largest", by.largest, unit::none).with("relative", by.relative, unit::none);
}

/// What two runs' outputs say: nothing when they are the same.
std::optional<finding> disagreement(const run_record& what, const run_record& reference) {
  const auto changes = compare(reference.outputs, what.outputs);
  for (const auto& change : changes) {
    if (change.found == output_fate::same || change.found == output_fate::differs) continue;
    return not_comparable(fmt::format("not both have an output '{}' of one type", change.tensor));
  }
  const auto differs = std::ranges::find(changes, output_fate::differs, &output_change::found);
  if (differs == changes.end()) return std::nullopt;
  if (!last_frame(what) || last_frame(what) != last_frame(reference)) {
    return not_comparable("they did not end with the same frame");
  }
  if (what.run.seed != reference.run.seed) return not_comparable("the seeds differ");
  return difference_in(*differs, type_of(differs->tensor, what));
}

/// What the trials of one pipeline ended with.
struct trial_outputs {
  std::vector<const run_record*> runs;
  std::string unsteady;  ///< the tensor that differs between trials that end with the same frame
  std::vector<std::string> not_finite;
};

trial_outputs outputs_of(std::vector<const run_record*> runs) {
  trial_outputs result;
  std::map<std::pair<std::string, std::size_t>, std::set<std::string>> checksums;
  for (const auto* run : runs) {
    for (const auto& output : run->outputs) {
      auto& known = result.not_finite;
      if (!output.finite && std::find(known.begin(), known.end(), output.tensor) == known.end()) {
        known.push_back(output.tensor);
      }
      if (const auto last = last_frame(*run)) {
        checksums[{output.tensor, *last}].insert(output.checksum);
      }
    }
  }
  for (const auto& [key, different] : checksums) {
    if (different.size() > 1) result.unsteady = key.first;
  }
  result.runs = std::move(runs);
  return result;
}

class output_comparison {
 public:
  explicit output_comparison(const finding_source& from) : from_(from) {
    for (const auto& what : from.labels.all()) {
      by_member_[{what.configuration, what.member}] = outputs_of(from.runs_of(what));
    }
  }

  void compare(std::vector<finding>& to) {
    find_unsteady();
    bool all_same = unsteady_.size() == 0;
    // Other sizes are to compute something else.
    const bool comparable = !from_.swept || !changes_cost(*from_.swept);
    for (const auto& pair : from_.record.pairs) {
      all_same = comparable && compare(pair) && all_same;
    }
    if (none()) {
      to.push_back({"no_outputs"});
    } else if (all_same && agreeing_.size() > 0) {
      to.push_back(agreement());
    } else {
      add(agreeing_, to);
    }
    for (const auto* groups : {&disagreeing_, &unsteady_, &not_finite_}) add(*groups, to);
  }

 private:
  /// Whether every trial has frames and none of them an output.
  bool none() const {
    const auto& trials = from_.record.trials;
    return !trials.empty() && std::ranges::all_of(trials, [](const trial_record& trial) {
      return std::ranges::all_of(trial.members, [](const run_record& run) {
        return !run.frames.empty() && !run.failure && run.outputs.empty();
      });
    });
  }

  const trial_outputs& outputs(const configuration_member& of) const {
    return by_member_.at({of.configuration, of.member});
  }

  void add(const grouped_findings& groups, std::vector<finding>& to) const {
    for (auto& one : groups.all(from_.labels)) to.push_back(std::move(one));
  }

  void find_unsteady() {
    const auto add = [](grouped_findings& groups, std::string_view key, const std::string& tensor,
                        const configuration_member& who) {
      groups.add(finding{key, finding_severity::warning}.with("tensor", tensor), who);
    };
    for (const auto& what : from_.labels.all()) {
      const auto& own = outputs(what);
      for (const auto& tensor : own.not_finite) add(not_finite_, "not_finite", tensor, what);
      if (!own.unsteady.empty()) add(unsteady_, "outputs_vary", own.unsteady, what);
    }
  }

  /// Whether nothing stands against the two having computed the same.
  bool compare(const compared_pair& pair) {
    const auto& what = outputs(pair.what);
    const auto& reference = outputs(pair.reference);
    if (what.runs.empty() || reference.runs.empty()) return false;
    const bool none = what.runs.front()->outputs.empty() && reference.runs.front()->outputs.empty();
    if (none) return true;
    if (!what.unsteady.empty() || !reference.unsteady.empty()) return false;
    const auto name = from_.labels.of(pair.reference);
    auto found = disagreement(*what.runs.front(), *reference.runs.front());
    if (found) {
      disagreeing_.add(found->with("reference", name), pair.what);
    } else {
      agreeing_.add(finding{"same_outputs_as"}.with("reference", name), pair.what);
    }
    return !found;
  }

  /// What all configurations computed, each as its own baseline did.
  finding agreement() const {
    const run_record* first = nullptr;
    std::size_t count = 0;
    bool one_for_all = true;
    for (const auto& what : from_.labels.all()) {
      const auto& runs = outputs(what).runs;
      count += runs.size();
      if (first == nullptr && !runs.empty()) first = runs.front();
      one_for_all = one_for_all && !runs.empty() && !disagreement(*runs.front(), *first);
    }
    if (!one_for_all) return finding{"same_outputs_as_baselines"}.with("runs", count);
    std::vector<std::string> tensors;
    for (const auto& output : first->outputs) {
      tensors.push_back(fmt::format("{} {}", output.tensor, output.checksum));
    }
    return finding{"same_outputs"}.with("runs", count).with("outputs", std::move(tensors));
  }

  const finding_source& from_;
  std::map<std::pair<std::size_t, std::size_t>, trial_outputs> by_member_;
  grouped_findings agreeing_;
  grouped_findings disagreeing_;
  grouped_findings unsteady_;
  grouped_findings not_finite_;
};

}  // namespace

void add_output_findings(const finding_source& from, std::vector<finding>& to) {
  output_comparison(from).compare(to);
}

}  // namespace graphline
