#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/experiment/sweep.hpp"
#include "framework/analysis/finding.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Returns the findings of an experiment: cost of timing methods, equality of outputs, missing
/// overlap, effect of priorities, policy, window and streams, chains, overload, disturbances of the
/// machine, and warnings of the trials' runs. Merges equal findings about several configurations.
/// @param swept Result of `sweep_of` for the record and summary.
std::vector<finding> findings_of(const experiment_record& record, const experiment_summary& summary,
                                 const std::optional<sweep>& swept);

/// Input of the findings. Holds references.
struct finding_source {
  const experiment_record& record;
  const experiment_summary& summary;
  const std::optional<sweep>& swept;
  experiment_labels labels;

  /// Returns the complete runs of a pipeline, in execution order.
  std::vector<const run_record*> runs_of(const configuration_member& what) const;

  bool several_at_once(std::size_t configuration) const {
    return record.configurations[configuration].members.size() > 1;
  }

  /// Returns true if the configurations of a pair differ only in the value of `key`, for all
  /// pipelines or, as MEMBER.KEY, for this one.
  bool differ_only_in(const compared_pair& pair, std::string_view key) const;
};

/// Merges equal findings about different pipelines. The labels of the pipelines become the subjects
/// of the merged finding and, joined as text, its metric "configurations".
class grouped_findings {
 public:
  void add(finding what, const configuration_member& who);
  std::vector<finding> all(const experiment_labels& labels) const;

  /// Appends `of` to `to`, with the findings as its cases, unless there are none.
  void add_as_cases(finding of, const experiment_labels& labels, std::vector<finding>& to) const;

 private:
  std::vector<std::pair<finding, std::vector<configuration_member>>> groups_;
};

void add_timing_findings(const finding_source& from, std::vector<finding>& to);
void add_priority_findings(const finding_source& from, std::vector<finding>& to);
void add_scheduling_findings(const finding_source& from, std::vector<finding>& to);
void add_chain_findings(const finding_source& from, std::vector<finding>& to);
void add_output_findings(const finding_source& from, std::vector<finding>& to);
void add_overlap_findings(const finding_source& from, std::vector<finding>& to);

}  // namespace graphline
