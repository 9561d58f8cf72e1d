#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/analysis/experiment/sweep.hpp"

namespace graphline {

namespace {

/// Which frame's outputs a run ended with; nothing where frames were dropped, since then the last
/// one that ran need not be the last one.
std::optional<std::size_t> last_frame(const run_record& run) {
  if (!run.load.dropped.empty()) return std::nullopt;
  return static_cast<std::size_t>(run.run.warmup) + run.frames.size();
}

const output_record* find_output(const run_record& run, std::string_view tensor) {
  for (const auto& output : run.outputs) {
    if (output.tensor == tensor) return &output;
  }
  return nullptr;
}

/// By how much the values that were kept differ, and how large they are.
struct value_difference {
  std::size_t compared = 0;
  double largest = 0;    ///< difference
  double magnitude = 0;  ///< of the reference's largest value
};

value_difference difference_of(const output_record& what, const output_record& reference) {
  value_difference result;
  for (std::size_t i = 0; i < std::min(what.values.size(), reference.values.size()); ++i) {
    if (!std::isfinite(what.values[i]) || !std::isfinite(reference.values[i])) continue;
    ++result.compared;
    result.largest = std::max(result.largest, std::abs(what.values[i] - reference.values[i]));
    result.magnitude = std::max(result.magnitude, std::abs(reference.values[i]));
  }
  return result;
}

std::string in_words(const value_difference& by, const tensor_type& type) {
  if (by.compared == 0) return "by its checksum";
  const auto kept = static_cast<std::int64_t>(by.compared) < type.shape.elements()
                        ? fmt::format("the {} values that were kept", by.compared)
                        : std::string("its values");
  if (by.largest == 0) return fmt::format("by its checksum, though not in {}", kept);
  auto text = fmt::format("by {:.2g} at most in {}", by.largest, kept);
  if (by.magnitude > 0) {
    text += fmt::format(", {:.2g} of the largest", by.largest / by.magnitude);
  }
  return text;
}

/// What two runs' outputs say: nothing when they are the same, else the rest of a sentence that
/// begins with the name of the one that is compared.
std::string disagreement(const run_record& what, const run_record& reference,
                         std::string_view reference_name) {
  for (const auto& output : what.outputs) {
    const auto* other = find_output(reference, output.tensor);
    if (other == nullptr) {
      return fmt::format("cannot be compared with those of {}, which has no '{}'", reference_name,
                         output.tensor);
    }
    if (output.type != other->type) {
      return fmt::format("cannot be compared with those of {}: '{}' is {} there, {} here",
                         reference_name, output.tensor, to_string(other->type),
                         to_string(output.type));
    }
  }
  for (const auto& output : reference.outputs) {
    if (find_output(what, output.tensor) != nullptr) continue;
    return fmt::format("cannot be compared with those of {}, which has '{}' besides",
                       reference_name, output.tensor);
  }
  for (const auto& output : what.outputs) {
    const auto& other = *find_output(reference, output.tensor);
    if (output.checksum == other.checksum) continue;
    const auto last = last_frame(what);
    const auto other_last = last_frame(reference);
    if (!last || !other_last) {
      return fmt::format(
          "cannot be compared with those of {}: frames were dropped, so each ended with another "
          "frame",
          reference_name);
    }
    if (*last != *other_last) {
      return fmt::format(
          "cannot be compared with those of {}: frame {} was the last there, frame {} here",
          reference_name, *other_last, *last);
    }
    if (what.run.seed != reference.run.seed) {
      return fmt::format("cannot be compared with those of {}: the seed is another",
                         reference_name);
    }
    return fmt::format("differ from those of {}: '{}' {}", reference_name, output.tensor,
                       in_words(difference_of(output, other), output.type));
  }
  return "";
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

  void compare(findings_list& to) {
    add_unsteady();
    bool all_same = unsteady_.all().empty();
    const auto swept = sweep_of(from_.record, from_.summary);
    // Other sizes are to compute something else.
    const bool comparable = !swept || !changes_cost(*swept);
    for (const auto& pair : from_.record.pairs) {
      all_same = comparable && compare(pair) && all_same;
    }
    if (none()) {
      to.push_back("no output to compare: whatever stages write, other stages read");
    } else if (all_same && compared_ > 0) {
      to.push_back(agreement());
    } else {
      for (const auto& [reference, names] : agreeing_.all()) {
        to.push_back(
            fmt::format("{} computed the same outputs as {}", from_.labels.list(names), reference));
      }
    }
    for (const auto* groups : {&disagreeing_, &unsteady_}) {
      for (const auto& [text, names] : groups->all()) {
        to.push_back(fmt::format("outputs of {} {}", from_.labels.list(names), text));
      }
    }
    for (const auto& [tensor, names] : not_finite_.all()) {
      to.push_back(fmt::format("'{}' holds NaN or infinity {}", tensor, from_.labels.where(names)));
    }
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

  void add_unsteady() {
    for (const auto& what : from_.labels.all()) {
      const auto& own = outputs(what);
      for (const auto& tensor : own.not_finite) not_finite_.add(tensor, what);
      if (own.unsteady.empty()) continue;
      unsteady_.add(
          fmt::format("differ from trial to trial: '{}' has several checksums", own.unsteady),
          what);
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
    const auto text = disagreement(*what.runs.front(), *reference.runs.front(), name);
    if (text.empty()) {
      ++compared_;
      agreeing_.add(name, pair.what);
      return true;
    }
    disagreeing_.add(text, pair.what);
    return false;
  }

  /// All configurations computed what they are compared with; it may be the same for all.
  std::string agreement() const {
    const run_record* first = nullptr;
    std::size_t count = 0;
    bool one_for_all = true;
    for (const auto& what : from_.labels.all()) {
      const auto& runs = outputs(what).runs;
      count += runs.size();
      if (first == nullptr && !runs.empty()) first = runs.front();
      one_for_all = one_for_all && !runs.empty() && disagreement(*runs.front(), *first, "").empty();
    }
    if (!one_for_all) {
      return fmt::format(
          "every configuration computed the same outputs as its baseline (last frame of {} runs)",
          count);
    }
    std::vector<std::string> tensors;
    for (const auto& output : first->outputs) {
      tensors.push_back(fmt::format("{} {}", output.tensor, output.checksum));
    }
    return fmt::format("all configurations computed the same outputs: {} (last frame of {} runs)",
                       listed(tensors), count);
  }

  const finding_source& from_;
  std::map<std::pair<std::size_t, std::size_t>, trial_outputs> by_member_;
  grouped_texts agreeing_;
  grouped_texts disagreeing_;
  grouped_texts unsteady_;
  grouped_texts not_finite_;
  std::size_t compared_ = 0;
};

}  // namespace

void add_output_findings(const finding_source& from, findings_list& to) {
  output_comparison(from).compare(to);
}

}  // namespace graphline
