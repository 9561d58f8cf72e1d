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

/// What a run says about its rate. The first tenth of its frames is left out: a run begins with an
/// empty queue, which is not how it looks later on.
struct capacity_run_summary {
  std::vector<nanoseconds> times;  ///< from due to end, by when due; `never` for frames not done
  double late = 0;                 ///< the share beyond the bound
  bool growing = false;            ///< see `held`
  /// Mean time of a frame from when it was due and those before it let it begin, to its end, in
  /// nanoseconds: what it takes without the queue. Of the first tenth too. 0 without frames.
  double own_time = 0;

  /// No more frames late than the percentile allows. Under a constant rate, nor may the queue grow
  /// from each quarter of the run to the next, by more than a twentieth of the time between frames
  /// and more than the waits vary within a quarter: it would exceed any bound if the run went on.
  bool held = false;
};

capacity_run_summary summarize(const capacity_run& run, const capacity_settings& how);

/// Whether it ran as long as the search wanted: neither stopped by a person nor failed.
bool is_complete(const capacity_run& run) noexcept;

/// Where the capacity lies by all pooled runs together, in frames a second.
struct capacity_estimate {
  std::optional<double> rate;
  std::optional<double> low;    ///< of the 95 % interval; absent when no rate held
  std::optional<double> high;   ///< absent when every rate held
  std::size_t runs = 0;         ///< that the estimate rests on
  std::size_t frames = 0;       ///< of these
  std::vector<bool> disturbed;  ///< of the runs given: left out, see `estimate_capacity`
  bool unsteady = false;        ///< so many runs looked disturbed that none was left out
  double next = 0;              ///< a run at this rate tells most; 0 while that is not known

  /// The interval's width as a part of the rate; nothing unless it has both ends.
  std::optional<double> width() const noexcept {
    if (!low || !high || !rate) return std::nullopt;
    return (*high - *low) / *rate;
  }
  bool enough = false;  ///< runs to rely on the interval
};

/// Judges the runs with `pooled` set.
///
/// A run is disturbed, and left out, when the process stood still, or when its frames took longer
/// for themselves than those of the other runs: their mean lies above the median over runs by more
/// than five times what runs scatter (1.4826 median absolute deviations: Rousseeuw and Croux, 1993)
/// and more than half of `within`.
/// When more than two fifths of the runs look like that, it is how the pipeline behaves, and all
/// count.
///
/// `poisson`: how many frames are late depends above all on how the arrivals of a run happened to
/// bunch, and these are known. So each run is compared with a `reference_queue` at the same
/// moments, which serves as fast as the closed loop. For a rate x that may be the capacity, the
/// reference's limit is the wait that the allowed share of its frames exceeds at x in the long run.
/// If x is the capacity, the share of late frames is the same in both at x, on average: the line
/// through the runs' differences (over log rate, weighted by one over the late share that the
/// reference expects, to which the variance is about proportional, with standard errors that allow
/// for another: HC3, MacKinnon and White 1985) is zero at x. The interval holds
/// every x at which Student's t does not reject that with 95 %. The reference serves as a control
/// variate (Law, "Simulation Modeling and Analysis", section 11.4): the better it resembles the
/// pipeline, the narrower the interval; it need not for the interval to be right.
///
/// `constant`: rates hold or not, sharply. A rate holds when most of its runs do. The capacity is
/// the highest rate that held below all that did not; the interval goes from there to the lowest
/// that did not above all that did. Its lower end is lowered by what a queue can grow in a run
/// without a frame being late, though by no more than a quarter of `within`, since a queue that
/// grows by more is noticed.
capacity_estimate estimate_capacity(const capacity_settings& how, std::optional<double> closed_loop,
                                    std::span<const capacity_run> runs,
                                    std::span<const capacity_run_summary> summaries);

/// What the runs at one rate say together.
struct probe_summary {
  double rate = 0;
  bool pooled = false;
  bool cut_off = false;           ///< one of its runs
  std::vector<std::size_t> runs;  ///< in the record: complete and undisturbed
  std::size_t disturbed = 0;      ///< runs that are left out
  std::size_t incomplete = 0;     ///< runs that are left out
  std::size_t held = 0;           ///< runs that did
  std::size_t growing = 0;        ///< runs over the whole of which the queue grew
  std::size_t dropped = 0;        ///< frames of all runs, counted as late
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

/// What a search for the highest rate shows. What the data do not carry with 95 % is reported as
/// such.
std::vector<finding> findings_of(const capacity_summary& summary, const capacity_settings& how);

}  // namespace graphline
