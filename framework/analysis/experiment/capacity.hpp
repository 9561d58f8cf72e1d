#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/stats/percentile_bound.hpp"
#include "framework/record/capacity_record.hpp"

namespace graphline {

/// Total time in ns from when passes could begin until they ended. A pass could begin when a slot
/// was free and its batch was full or had waited for `batch_wait`.
struct own_time {
  double sum = 0;
  std::size_t passes = 0;

  double mean() const noexcept { return sum / static_cast<double>(passes); }
};

/// End-to-end times of one pipeline in a run at a fixed rate. Excludes the first tenth of the
/// frames, because the queue starts empty and is shorter than in the steady state.
struct rate_sample {
  nanoseconds bound = 0;           ///< 0: the frames have no bound
  std::vector<nanoseconds> due;    ///< due times, with those of the first tenth; ascending
  std::vector<nanoseconds> times;  ///< each frame's time from due to end; `never` if not complete
  double late = 0;                 ///< fraction of `times` above the bound
  /// At a constant rate, true if the median queue wait rises from each quarter of the run to the
  /// next. Each rise must be at least a twentieth of the frame interval and at least the
  /// interquartile range of either quarter. Of a batch, the wait of the last frame counts.
  bool growing = false;
};

/// Summary of a run at one rate.
struct capacity_run_summary {
  std::vector<rate_sample> members;  ///< one; of a set, one per pipeline
  /// Of one pipeline, by the number of frames of a pass. Includes the first tenth of the frames.
  std::map<std::size_t, own_time> own_times;
  /// True if the run met the bound: in each pipeline with arrivals, the percentile allows the
  /// fraction of late frames, and the queue is not `growing`.
  bool held = false;
};

capacity_run_summary summarize(const capacity_run& run, const capacity_settings& how);

/// Returns true if the run did not fail and the user did not interrupt it.
bool is_complete(const capacity_run& run) noexcept;

/// Capacity estimate from all pooled runs, in frames per second.
struct capacity_estimate {
  std::optional<double> rate;
  std::optional<double> low;    ///< lower end of the 95 % interval; empty if no rate met the bound
  std::optional<double> high;   ///< upper end; empty if every rate met the bound
  std::size_t runs = 0;         ///< runs used by the estimate
  std::size_t frames = 0;       ///< counted frames of these runs
  std::vector<bool> disturbed;  ///< by run: true if excluded as disturbed
  bool unsteady = false;        ///< too many runs were slow to exclude them as disturbed
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
/// Excludes disturbed runs, in which the process stood still or frames were slow. Frames were slow
/// if their own time exceeds the median over all runs, which is taken for each size of batch, by
/// more than five robust standard deviations (1.4826 times the median absolute deviation: Rousseeuw
/// and Croux, 1993) and by more than half of `within`. If more than two fifths of the runs are
/// slow, these are normal for the pipeline and count. Slow runs always count in virtual time and in
/// a set, whose frames wait longer for each other at higher rates.
///
/// `poisson`: the number of late frames depends mainly on the arrival times, which are known. Each
/// run is therefore compared with a `reference_queue` that has the same arrivals and the closed
/// loop's service rate. To test a candidate capacity x, the reference counts frames as late if they
/// wait longer than a limit. The limit is such that at rate x, the allowed fraction of its frames
/// is late in the long run. If x is the capacity, run and reference have the same expected fraction
/// of late frames at x. A regression line of the difference between run and reference, over the
/// logarithm of the rate, is then zero at x. The weight of a run is the inverse of the reference's
/// expected fraction of late frames, because the variance is approximately proportional to this
/// fraction. The standard errors are heteroscedasticity-consistent (HC3, MacKinnon and White 1985).
/// The interval contains every x that Student's t test does not reject at 5 %. The reference is a
/// control variate (Law, "Simulation Modeling and Analysis", section 11.4). Similarity to the
/// pipeline narrows the interval but is not required for its coverage.
///
/// `constant`: a rate meets the bound if most of its runs have `held` set. The capacity is the
/// highest rate below all rates that fail. The upper end of the interval is the lowest rate above
/// all rates that meet the bound. The lower end is slightly below the capacity, because a queue can
/// grow slowly within a run without making a frame late. The reduction is at most a quarter of
/// `within`.
/// @param summaries Of the record's runs, in the same order.
capacity_estimate estimate_capacity(const capacity_record& record,
                                    std::optional<double> closed_loop,
                                    std::span<const capacity_run_summary> summaries);

/// Summary of the runs at one rate.
struct probe_summary {
  double rate = 0;
  std::size_t member = 0;  ///< the pipeline that is closest to its bound, or furthest beyond it
  bool pooled = false;
  bool cut_off = false;
  std::vector<std::size_t> runs;  ///< indices of complete, undisturbed runs in the record
  std::size_t disturbed = 0;      ///< number of runs excluded as disturbed
  std::size_t incomplete = 0;     ///< number of runs excluded as incomplete
  std::size_t held = 0;           ///< number of runs that met the bound
  std::size_t growing = 0;        ///< number of runs with a growing queue of `member`
  std::size_t dropped = 0;        ///< dropped frames of all runs, which count as late
  bound_check times;              ///< of `member`, from due to end; `never` if dropped or overdue
};

/// Returns how many frames a run needs to represent the steady state: at least 40 full batches and,
/// with `poisson`, at least 4 B^2; 0 for a constant rate without batches. B is the number of frames
/// that the closed loop completes within the bound, without the other frames of a full batch. By
/// the heavy-traffic limit of M/D/1 (Kingman 1962), the percentile meets the bound at a load of
/// about 1 - 1.5/B. The relaxation time of the queue is then of the order of B^2 frames.
std::int64_t frames_for_queue(const capacity_settings& how, double closed_loop,
                              std::int64_t batch_frames = 1);

struct capacity_summary {
  std::optional<double> closed_loop;  ///< frames per second of the closed loop
  std::vector<probe_summary> probes;  ///< in the order in which they began
  capacity_estimate estimate;
  /// Check of the times from begin to end of frames that ran alone, without queueing. If the check
  /// fails, no rate can meet the bound, because a batch takes at least as long as one frame.
  bound_check alone;
  std::int64_t batch_frames = 1;  ///< maximum number of frames that run together
  /// With `batch_wait`: check of the times from due to end of frames that found a free slot and ran
  /// alone. If the check fails, lower rates miss the bound too.
  bound_check waiting;
  /// Set if this wait and a full batch together exceed the bound, so that low rates may miss it.
  std::optional<nanoseconds> batch_wait;
  std::optional<finding> warning;  ///< disturbances of the machine
  bool predicted = false;          ///< the runs are in virtual time
  std::optional<capacity_set> set;

  /// Returns the unit of `rate` in runs, probes and the estimate.
  unit rate_unit() const noexcept { return set ? unit::none : unit::frames_per_second; }
};

/// Returns the closed loop, or of a set, the first run of its first pipeline; an empty record
/// without runs.
const run_record& first_run(const capacity_record& record);

capacity_summary summarize(const capacity_record& record);

/// Returns the findings: the estimate and its limitations, or why there is no estimate.
std::vector<finding> findings_of(const capacity_summary& summary, const capacity_settings& how);

}  // namespace graphline
