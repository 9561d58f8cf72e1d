#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/percentile_bound.hpp"
#include "framework/record/capacity_record.hpp"

namespace graphline {

/// What the runs at one rate say together. The first tenth of each run's frames is left out: a run
/// begins with an empty queue, which is not how it looks later on.
struct probe_summary {
  double rate = 0;
  bool confirming = false;
  bool interrupted = false;  ///< a person or a failure ended its last run
  bool cut_off = false;      ///< one of its runs
  std::size_t runs = 0;
  std::size_t growing = 0;  ///< runs over the whole of which the queue grew
  std::size_t dropped = 0;  ///< frames, all of them counted as late
  bound_check times;        ///< from due to end; of those dropped and overdue `never`
  /// As `times` says, but for a queue that grows in each run: it would end beyond any bound if the
  /// run went on. Of a single run that leaves it open, in two it fails.
  bound_verdict verdict = bound_verdict::open;

  /// The verdict; of an open one, whether as few frames are late as may be. Nothing for an open one
  /// that was interrupted.
  std::optional<bool> held;
};

/// Of runs at the same rate; at least one.
probe_summary summarize(std::span<const capacity_run> runs, const capacity_settings& how);

/// So many frames that a run under `poisson` shows the queue as it is in the long run. Where B
/// frames can be done within the bound, the percentile meets it at a load of about 1 - 1.5/B, by
/// the heavy-traffic limit of M/D/1 (Kingman 1962), and there a queue takes on the order of B^2
/// frames to forget how it began: 2 B^2, which brings the rate found to within a few percent.
/// 0 for a constant rate.
std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop);

/// What a search found.
struct capacity_summary {
  std::optional<double> closed_loop;  ///< frames a second when all are due at once
  std::vector<probe_summary> probes;  ///< in order
  std::optional<std::size_t> best;    ///< the probe at the highest rate that held
  bool confirmed = false;             ///< by a run after the search
  std::optional<std::size_t> worse;   ///< the probe at the lowest rate above it that did not
  /// Frames that no other was beside, from their begin on, so without any queue: what remains at
  /// however low a rate. When this fails, no rate can hold.
  bound_check alone;
};

capacity_summary summarize(const capacity_record& record);

}  // namespace graphline
