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

/// What an experiment shows beside its figures: what timing costs, whether all configurations
/// computed the same, an overlap that did not happen, a priority that changed nothing or took
/// effect, frames dropped or late, and a machine that did not keep still. Then what the trials'
/// runs warned of, each once with all configurations in which they did. `swept`: what `sweep_of`
/// answers of the two.
std::vector<finding> findings_of(const experiment_record& record, const experiment_summary& summary,
                                 const std::optional<sweep>& swept);

// By subject, and what they share. Each adds findings only where the data carry them.

/// What findings are computed from. Holds references, of which all must outlive it.
struct finding_source {
  const experiment_record& record;
  const experiment_summary& summary;
  const std::optional<sweep>& swept;
  experiment_labels labels;

  /// The runs of a pipeline that ran to their end, in the order they ran.
  std::vector<const run_record*> runs_of(const configuration_member& what) const;

  bool several_at_once(std::size_t configuration) const {
    return record.configurations[configuration].members.size() > 1;
  }

  /// Whether the configurations of a pair are set apart by the value of `key` and nothing else.
  bool differ_only_in(const compared_pair& pair, std::string_view key) const;
};

/// Findings about pipelines of an experiment. Those that read the same are one, about all of them:
/// each by its label as a subject, and as they are listed in a sentence in "configurations".
class grouped_findings {
 public:
  void add(finding what, const configuration_member& who);
  std::vector<finding> all(const experiment_labels& labels) const;

  /// As cases of one finding, unless there is none.
  void add_as_cases(finding of, const experiment_labels& labels, std::vector<finding>& to) const;

 private:
  std::vector<std::pair<finding, std::vector<configuration_member>>> groups_;
};

/// What one configuration's comparison with another shows: the cost of a timing method, and the
/// effect of priorities.
void add_timing_findings(const finding_source& from, std::vector<finding>& to);
void add_priority_findings(const finding_source& from, std::vector<finding>& to);

/// Whether what was compared computed the same in the last frame of each trial.
void add_output_findings(const finding_source& from, std::vector<finding>& to);

/// Stages that ran side by side, and those that could have.
void add_overlap_findings(const finding_source& from, std::vector<finding>& to);

}  // namespace graphline
