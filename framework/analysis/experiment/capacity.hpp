#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/stats/percentile_bound.hpp"
#include "framework/record/capacity_record.hpp"

namespace graphline {

/// Summary of a run at one rate. Excludes the first tenth of its frames, since a run begins with an
/// empty queue, unlike the steady state.
struct capacity_run_summary {
  std::vector<nanoseconds> times;  ///< from due to end, by due time; `never` if not completed
  double late = 0;                 ///< fraction beyond the bound
  bool growing = false;            ///< the queue grew; see `held`
  /// Mean time of a frame without its wait in the queue, in ns: from the later of its due time and
  /// the end of the frame that freed its slot, to its end. Includes the first tenth. 0 without
  /// frames.
  double own_time = 0;

  /// The rate held: no more late frames than the percentile allows. At a constant rate, the queue
  /// must also not grow from each quarter of the run to the next by more than a twentieth of the
  /// frame interval and by more than the waits vary within a quarter: it would exceed any bound in
  /// a longer run.
  bool held = false;
};

capacity_run_summary summarize(const capacity_run& run, const capacity_settings& how);

/// Whether the run lasted as long as the search requested: neither interrupted by the user nor
/// failed.
bool is_complete(const capacity_run& run) noexcept;

/// Capacity estimate from all pooled runs, in frames per second.
struct capacity_estimate {
  std::optional<double> rate;
  std::optional<double> low;    ///< lower end of the 95 % interval; empty if no rate held
  std::optional<double> high;   ///< upper end; empty if every rate held
  std::size_t runs = 0;         ///< runs used by the estimate
  std::size_t frames = 0;       ///< their frames
  std::vector<bool> disturbed;  ///< by run: excluded, see `estimate_capacity`
  bool unsteady = false;        ///< too many runs looked disturbed, so none was excluded
  double next = 0;              ///< most informative rate for the next run; 0 if unknown

  /// Width of the interval relative to the rate; empty unless it has both ends.
  std::optional<double> width() const noexcept {
    if (!low || !high || !rate) return std::nullopt;
    return (*high - *low) / *rate;
  }
  bool enough = false;  ///< enough runs for a reliable interval
};

/// Estimates the capacity from the runs with `pooled` set.
///
/// A run is disturbed and excluded if the process stood still, or if its mean own time exceeds the
/// median over runs by more than five robust standard deviations (1.4826 median absolute
/// deviations: Rousseeuw and Croux, 1993) and by more than half of `within`. If more than two
/// fifths of the runs exceed this limit, that is normal for the pipeline, and all runs count.
///
/// `poisson`: the number of late frames depends mainly on how the arrivals of a run cluster, and
/// the arrival times are known. Each run is therefore compared with a `reference_queue` with the
/// same arrivals and the closed loop's service rate. For a candidate capacity x, the reference's
/// limit is the wait that the allowed fraction of its frames exceeds at x in the long run. If x is
/// the capacity, the expected fraction of late frames at x is the same for run and reference: the
/// regression line through the runs' differences over log rate is zero at x. The regression is
/// weighted by the inverse of the reference's expected fraction of late frames, to which the
/// variance is approximately proportional, with heteroscedasticity-consistent standard errors (HC3,
/// MacKinnon and White 1985). The interval contains every x that Student's t test does not reject
/// at 5 %. The reference is a control variate (Law, "Simulation Modeling and Analysis", section
/// 11.4): similarity to the pipeline narrows the interval but is not required for its coverage.
///
/// `constant`: a rate either holds or not. A rate holds if most of its runs do. The capacity is the
/// highest held rate below all failed ones; the interval extends from there to the lowest failed
/// rate above all held ones. Its lower end is reduced by how much a queue can grow in a run without
/// a late frame, but at most by a quarter of `within`, since faster growth is detected.
capacity_estimate estimate_capacity(const capacity_settings& how, std::optional<double> closed_loop,
                                    std::span<const capacity_run> runs,
                                    std::span<const capacity_run_summary> summaries);

/// Summary of the runs at one rate.
struct probe_summary {
  double rate = 0;
  bool pooled = false;
  bool cut_off = false;           ///< a run was cut off
  std::vector<std::size_t> runs;  ///< indices in the record of complete, undisturbed runs
  std::size_t disturbed = 0;      ///< excluded runs
  std::size_t incomplete = 0;     ///< excluded runs
  std::size_t held = 0;           ///< runs that held
  std::size_t growing = 0;        ///< runs with a growing queue
  std::size_t dropped = 0;        ///< dropped frames of all runs; these count as late
  bound_check times;              ///< from due to end; `never` for dropped and overdue frames
};

/// Number of frames after which a run under `poisson` represents the steady state. If B frames can
/// be completed within the bound, the percentile meets it at a load of approximately 1 - 1.5/B, by
/// the heavy-traffic limit of M/D/1 (Kingman 1962); at this load the relaxation time of the queue
/// is of the order of B^2 frames. Returns 4 B^2, or 0 for a constant rate.
std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop);

/// Result of a capacity search.
struct capacity_summary {
  std::optional<double> closed_loop;  ///< frames per second of the closed loop
  std::vector<probe_summary> probes;  ///< in order of begin
  capacity_estimate estimate;
  /// Frames without concurrent frames, from begin to end, and so without queueing: the latency at
  /// arbitrarily low rates. If this fails, no rate can hold.
  bound_check alone;
  std::optional<finding> warning;  ///< disturbances of the machine
};

capacity_summary summarize(const capacity_record& record);

/// Findings of a capacity search, including which results are not significant at 95 %.
std::vector<finding> findings_of(const capacity_summary& summary, const capacity_settings& how);

}  // namespace graphline
