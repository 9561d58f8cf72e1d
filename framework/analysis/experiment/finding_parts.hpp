#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

// The findings of an experiment, one function for each subject, and what they share. Each adds
// sentences only where the data carry them.

/// What findings are computed from. Holds references: the record and the summary must outlive it.
struct finding_source {
  const experiment_record& record;
  const experiment_summary& summary;
  experiment_labels labels;

  /// The runs of a pipeline that ran to their end, in the order they ran.
  std::vector<const run_record*> runs_of(const configuration_member& what) const;

  /// Null where the summary knows nothing of it.
  const member_summary* summary_of(const configuration_member& what) const;

  bool several_at_once(std::size_t configuration) const {
    return record.configurations[configuration].members.size() > 1;
  }

  /// Whether the configurations of a pair are set apart by the value of `key` and nothing else.
  bool differ_only_in(const compared_pair& pair, std::string_view key) const;
};

/// Texts that hold for several pipelines, with all for which they do.
class grouped_texts {
 public:
  using group = std::pair<std::string, std::vector<configuration_member>>;

  void add(const std::string& text, const configuration_member& who);
  const std::vector<group>& all() const noexcept { return groups_; }

 private:
  std::vector<group> groups_;
};

using findings_list = std::vector<std::string>;

/// What timing methods cost and report, where an experiment compares them with none.
void add_timing_findings(const finding_source& from, findings_list& to);

/// Whether what was compared computed the same in the last frame of each trial.
void add_output_findings(const finding_source& from, findings_list& to);

/// Stages that ran side by side, and those that could have.
void add_overlap_findings(const finding_source& from, findings_list& to);

/// What priorities did, by pairs that differ in nothing else.
void add_priority_findings(const finding_source& from, findings_list& to);

/// What pipelines that run at once cost each other.
void add_together_findings(const finding_source& from, findings_list& to);

/// How arithmetic and time follow a parameter that is swept.
void add_sweep_findings(const finding_source& from, findings_list& to);

/// Stages whose device time is bound by their launches.
void add_launch_findings(const finding_source& from, findings_list& to);

/// Ways of waiting that keep a core busy for nothing.
void add_waiting_findings(const finding_source& from, findings_list& to);

/// Rates at which frames come faster than they are completed: no latency says anything there.
void add_overload_findings(const finding_source& from, findings_list& to);

/// Frames dropped or late.
void add_load_findings(const finding_source& from, findings_list& to);

/// A machine that did not keep still.
void add_machine_findings(const finding_source& from, findings_list& to);

}  // namespace graphline
