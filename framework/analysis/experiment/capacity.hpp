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

/// Summary of a run at one rate. Excludes the first tenth of the frames, in which the queue is
/// shorter than in the steady state because it is empty at the start.
struct capacity_run_summary {
  std::vector<nanoseconds> times;  ///< each frame's time from due to end; `never` if not complete
  double late = 0;                 ///< fraction of frames that take longer than the bound
  bool growing = false;            ///< the queue kept growing; see `held`
  /// Mean time of a frame without its wait in the queue, in ns. The time starts when the frame is
  /// due or, if later, when the frame before it in its slot ends. Includes the first tenth.
  double own_time = 0;

  /// True if no more frames are late than the percentile allows, and `growing` is false. At a
  /// constant rate, `growing` is true if the median wait increases from each quarter of the run to
  /// the next, by more than a twentieth of the frame interval and by more than the interquartile
  /// range in either quarter. In a longer run, the wait would exceed any bound.
  bool held = false;
};

capacity_run_summary summarize(const capacity_run& run, const capacity_settings& how);

/// Returns true if the run neither failed nor was interrupted by the user, even if cut off.
bool is_complete(const capacity_run& run) noexcept;

/// Capacity estimate from all pooled runs, in frames per second.
struct capacity_estimate {
  std::optional<double> rate;
  std::optional<double> low;    ///< lower end of the 95 % interval; empty if no rate met the bound
  std::optional<double> high;   ///< upper end; empty if every rate met the bound
  std::size_t runs = 0;         ///< runs used by the estimate
  std::size_t frames = 0;       ///< frames of these runs
  std::vector<bool> disturbed;  ///< by run: true if excluded as disturbed
  bool unsteady = false;        ///< too many runs looked disturbed, so none was excluded
  double next = 0;              ///< most informative rate for the next run; 0 if unknown

  /// Returns the interval's width relative to the rate; empty if an end is missing.
  std::optional<double> width() const noexcept {
    if (!low || !high || !rate) return std::nullopt;
    return (*high - *low) / *rate;
  }
  bool enough = false;  ///< enough runs for a reliable interval
};

/// Estimates the capacity from the runs with `pooled` set.
///
/// A run is excluded as disturbed if the process stood still, or if its mean own time exceeds the
/// median over the runs by more than five robust standard deviations (1.4826 median absolute
/// deviations: Rousseeuw and Croux, 1993) and by more than half of `within`. If more than two
/// fifths of the runs exceed this limit, such times are normal for the pipeline, and these runs
/// count.
///
/// `poisson`: the number of late frames depends mainly on how the arrivals of a run cluster, and
/// the arrival times are known. Each run is therefore compared with a `reference_queue` that has
/// the same arrivals and the closed loop's service rate. For a candidate capacity x, the
/// reference's limit is the wait that the allowed fraction of its frames exceeds at x in the long
/// run. If x is the capacity, the expected fraction of late frames at x is the same for run and
/// reference. The regression line through the runs' differences over the logarithm of the rate is
/// then zero at x. The weights of the regression are the inverse of the reference's expected
/// fraction of late frames, to which the variance is approximately proportional. The standard
/// errors are heteroscedasticity-consistent (HC3, MacKinnon and White 1985). The interval contains
/// every x that Student's t test does not reject at 5 %. The reference is a control variate (Law,
/// "Simulation Modeling and Analysis", section 11.4): similarity to the pipeline narrows the
/// interval but is not required for its coverage.
///
/// `constant`: a rate meets the bound if most of its runs have `held` set. The capacity is the
/// highest rate that met the bound below all rates that did not. The interval extends from there to
/// the lowest failed rate that is higher than every rate that met the bound. Within one run, a
/// queue can grow slowly without making a frame late, so the lower end is reduced by that growth.
/// The reduction is at most a quarter of `within`, because faster growth is detected.
capacity_estimate estimate_capacity(const capacity_settings& how, std::optional<double> closed_loop,
                                    std::span<const capacity_run> runs,
                                    std::span<const capacity_run_summary> summaries);

/// Summary of the runs at one rate.
struct probe_summary {
  double rate = 0;
  bool pooled = false;
  bool cut_off = false;           ///< true if a run was cut off
  std::vector<std::size_t> runs;  ///< indices of complete, undisturbed runs in the record
  std::size_t disturbed = 0;      ///< number of runs excluded as disturbed
  std::size_t incomplete = 0;     ///< number of runs excluded as incomplete
  std::size_t held = 0;           ///< number of runs that met the bound
  std::size_t growing = 0;        ///< number of runs with a growing queue
  std::size_t dropped = 0;        ///< dropped frames of all runs, which count as late
  bound_check times;              ///< times from due to end; `never` for dropped and overdue frames
};

/// Returns the number of frames that a `poisson` run needs to represent the steady state: 4 B^2, or
/// 0 for a constant rate. B is the number of frames that the closed loop completes within the
/// bound. By the heavy-traffic limit of M/D/1 (Kingman 1962), the percentile meets the bound at a
/// load of about 1 - 1.5/B. The relaxation time of the queue is then of the order of B^2 frames.
std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop);

/// Result of a capacity search.
struct capacity_summary {
  std::optional<double> closed_loop;  ///< frames per second of the closed loop
  std::vector<probe_summary> probes;  ///< in the order in which they began
  capacity_estimate estimate;
  /// Check of the times from begin to end of frames that ran without other frames and so without
  /// queueing, as at very low rates. If the check fails, no rate can meet the bound.
  bound_check alone;
  std::optional<finding> warning;  ///< disturbances of the machine
};

capacity_summary summarize(const capacity_record& record);

/// Returns the findings: the estimate and its limitations, or why there is no estimate.
std::vector<finding> findings_of(const capacity_summary& summary, const capacity_settings& how);

}  // namespace graphline
