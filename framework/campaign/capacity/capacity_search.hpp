#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "framework/base/stop_request.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/run/execute/machine_watch.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

/// A run that the search requests.
struct probe_request {
  std::optional<double> rate;  ///< frames due per second; empty: all at once
  std::int64_t frames = 0;
  std::uint64_t seed = 1;    ///< seed of random arrivals
  bool may_cut_off = false;  ///< whether the run may end early once its verdict is clear
  progress_function on_progress;
};

/// Makes a run; sets `record`, and also `cut_off` and `overdue` if the run ended early. Its
/// exceptions propagate through the search.
using probe_function = std::function<capacity_run(const probe_request&)>;

/// Progress of a search.
struct capacity_progress {
  std::optional<double> rate;  ///< rate of the current run; empty for the closed loop
  /// The interval so far. Before the first interval: the highest rate that met the bound and the
  /// lowest that did not.
  std::optional<double> low;
  std::optional<double> high;
  progress run;  ///< progress of the current run
};

struct capacity_options {
  const stop_request* stop = nullptr;  ///< polled between runs
  std::function<void(const capacity_progress&)> on_progress;
  /// Starts watching the machine before the first run; if empty, the record has no conditions.
  std::function<machine_watch()> watch_machine = {};
};

/// Returns the smallest number of frames with which a run can show that the percentile meets the
/// bound: `frames_to_hold` plus the first tenth, which does not count.
std::int64_t least_capacity_frames(double percentile);

/// Returns the frames per run for rates that are not close to the highest: enough that about twelve
/// lie beyond the percentile, and at least 100. If the throughput of the closed loop is known, also
/// at least a second of frames (at most 20,000), and at least `frames_for_queue` or half a minute
/// of frames, whichever are fewer.
std::int64_t usual_capacity_frames(const capacity_settings& how, double closed_loop = 0);

/// Searches for the highest rate at which the percentile meets the bound:
/// - The closed loop gives the throughput and, unless `how` does, the number of frames per run.
/// - Single runs, first at half that throughput, until a rate that met the bound and a rate that
///   did not are within a quarter of each other.
/// - Pooled runs near that rate, four times as long for a constant rate and twice as long for
///   `poisson`. Each run has separate arrivals and the rate at which `estimate_capacity` expects
///   most information. They end when the interval is as narrow as `within`, or after forty runs.
///   Disturbed runs are repeated.
/// Ends early, with the runs so far, if a run fails or is interrupted, or `stop` is raised.
capacity_record find_capacity(const capacity_settings& how, const probe_function& probe,
                              const capacity_options& options = {});

/// Returns a function that makes runs of a session whose plan has arrivals. A run that may be cut
/// off ends once so many frames are late that the queue must be growing: several times as many as
/// the percentile allows, even if all remaining frames were on time.
/// @pre `s` and `stop` outlive the function
probe_function make_session_probe(session& s, const capacity_settings& how,
                                  const stop_request* stop = nullptr);

/// Returns a lower bound on the frames that have been due for longer than the bound and are not
/// done, `elapsed` ns after arrivals began. Allows for random arrivals under `poisson`.
std::int64_t overdue_frames(const capacity_settings& how, double rate, std::int64_t frames,
                            nanoseconds elapsed, std::int64_t done);

/// Returns the number of late frames with which a run misses the bound whatever follows.
std::int64_t enough_late(const capacity_settings& how, std::int64_t frames);

}  // namespace graphline
