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
  std::size_t candidate = 0;  ///< index in the search
  std::optional<double> objective;
  std::optional<interval> range;          ///< 95 %, for this configuration alone
  std::vector<bound_verdict> limits;      ///< by constraint
  std::vector<std::optional<double>> of;  ///< values that the constraints limit
  bool feasible() const noexcept;
};

/// A point of the trade-off between latency, throughput and device memory.
struct front_point {
  std::size_t candidate = 0;
  double latency = 0;     ///< ns
  double throughput = 0;  ///< frame/s
  std::uint64_t device_bytes = 0;
  bool confirmed = false;
};

struct search_summary {
  std::vector<confirmed_candidate> confirmed;  ///< by configuration; empty without trials

  /// The recommended configuration. Empty if none meets the constraints with confidence, or without
  /// enough trials.
  std::optional<std::size_t> chosen;
  std::optional<comparison> gain;  ///< of `chosen` against the file's settings
  /// Configurations that meet the constraints and cannot be told apart from `chosen`, which is one
  /// of them; simplest first.
  std::vector<std::size_t> ties;

  /// Without `chosen`: the candidate with the least violation, else the best so far.
  std::size_t nearest = 0;
  std::vector<front_point> front;  ///< lowest latency first

  std::int64_t frames = 0;            ///< measured before the confirmation
  std::int64_t confirmed_frames = 0;  ///< measured in the confirmation
};

/// Summarizes a search from the trials of its confirmation.
///
/// The race has chosen the order of preference before the confirmation, so the figures of the
/// chosen configuration are unbiased. The first configuration that meets all constraints is chosen,
/// unless another one is conclusively better. A constraint holds by the bound of a one-sided
/// interval: 5 % divided by the number of configurations, at most 2.5 %.
/// @pre `record.search` is set and has candidates; `summary` is of `record`
search_summary summarize_search(const experiment_record& record, const experiment_summary& summary);

}  // namespace graphline
