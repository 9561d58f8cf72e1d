#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/search/search_goal.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// A configuration of the confirmation, by its trials there.
struct confirmed_candidate {
  struct limited {
    bound_verdict verdict = bound_verdict::open;
    std::optional<double> value;  ///< of the metric that the constraint limits
  };
  std::size_t candidate = 0;  ///< index in the search
  std::optional<double> objective;
  std::optional<interval> range;  ///< 95 %, for this configuration alone
  std::vector<limited> limits;    ///< by constraint
  bool feasible = true;           ///< all constraints hold
  double violation = 0;           ///< by `violation_of`
};

struct search_summary {
  std::vector<confirmed_candidate> confirmed;  ///< by configuration

  /// The recommended configuration. Empty if none meets the constraints with confidence, or without
  /// enough trials.
  std::optional<std::size_t> chosen;
  std::optional<comparison> gain;  ///< of `chosen` against the file's settings
  /// Configurations that meet the constraints and cannot be told apart from `chosen`, which is one
  /// of them; simplest first.
  std::vector<std::size_t> ties;

  std::size_t nearest = 0;  ///< without `chosen`: the preferred candidate with the least violation
  /// Candidates on the Pareto front of latency, throughput and device memory; lowest latency first.
  std::vector<std::size_t> front;
};

/// Summarizes a search from the trials of its confirmation, which had no part in the order of
/// preference. The first configuration that meets all constraints is chosen, unless another one is
/// conclusively better. A constraint holds by the bound of a one-sided interval: 5 % divided by the
/// number of configurations, at most 2.5 %.
/// @pre `record.search` is set and has candidates; `summary` is of `record`
search_summary summarize_search(const experiment_record& record, const experiment_summary& summary);

}  // namespace graphline
