#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/capacity_estimate.hpp"
#include "framework/analysis/finding.hpp"
#include "framework/analysis/stats/percentile_bound.hpp"
#include "framework/record/capacity_record.hpp"

namespace graphline {

/// What the runs at one rate say together.
struct probe_summary {
  double rate = 0;
  bool pooled = false;
  bool cut_off = false;           ///< one of its runs
  std::vector<std::size_t> runs;  ///< in the record
  std::size_t held = 0;           ///< runs that did
  std::size_t growing = 0;        ///< runs over the whole of which the queue grew
  std::size_t disturbed = 0;      ///< runs that are left out of `times`
  std::size_t dropped = 0;        ///< frames, all of them counted as late
  bound_check times;              ///< from due to end; of those dropped and overdue `never`
};

/// So many frames that a run under `poisson` shows the queue as it is in the long run. Where B
/// frames can be done within the bound, the percentile meets it at a load of about 1 - 1.5/B, by
/// the heavy-traffic limit of M/D/1 (Kingman 1962), and there a queue takes on the order of B^2
/// frames to forget how it began: 4 B^2. 0 for a constant rate.
std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop);

/// What a search found.
struct capacity_summary {
  std::optional<double> closed_loop;  ///< frames a second when all are due at once
  std::vector<probe_summary> probes;  ///< in order
  capacity_estimate estimate;
  /// Frames that no other was beside, from their begin on, so without any queue: what remains at
  /// however low a rate. When this fails, no rate can hold.
  bound_check alone;
  std::optional<finding> warning;  ///< that the machine was disturbed
};

capacity_summary summarize(const capacity_record& record);

}  // namespace graphline
