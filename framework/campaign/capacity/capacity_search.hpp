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
  std::uint64_t seed = 1;    ///< of random arrivals
  bool may_cut_off = false;  ///< may end early once its verdict is clear
  progress_function on_progress;
};

/// Makes a run; sets `record`, and `cut_off` and `overdue` if it ended early. The search passes on
/// its exceptions.
using probe_function = std::function<capacity_run(const probe_request&)>;

/// The progress of a search.
struct capacity_progress {
  std::optional<double> rate;  ///< of the current run; empty: the closed loop
  /// The interval so far; before there is one, the highest rate that held and the lowest that did
  /// not.
  std::optional<double> low;
  std::optional<double> high;
  progress run;  ///< of the current run
};

struct capacity_options {
  const stop_request* stop = nullptr;  ///< polled between runs
  std::function<void(const capacity_progress&)> on_progress;
  /// Starts watching the machine before the first run; if empty, the record has no conditions.
  std::function<machine_watch()> watch_machine = {};
};

/// The smallest number of frames with which a run can show that the percentile holds:
/// `frames_to_hold` plus the first tenth, which does not count.
std::int64_t least_capacity_frames(double percentile);

/// Frames per run for rates that are not close to the highest: enough that about twelve lie beyond
/// the percentile. At least 100. If the throughput of the closed loop is known, at least a second
/// of frames (at most 20,000), and `frames_for_queue` or half a minute of frames, whichever are
/// fewer.
std::int64_t usual_capacity_frames(const capacity_settings& how, double closed_loop = 0);

/// Searches for the highest rate at which the percentile holds:
/// - The closed loop gives the throughput and, unless `how` does, the number of frames per run.
/// - Single runs, from half that throughput, until a rate that holds and one that does not are
///   within a quarter of each other.
/// - Pooled runs, four times as long for a constant rate and twice as long for `poisson`, each with
///   its own arrivals and at the most informative rate by `estimate_capacity`, until the interval
///   is as narrow as `within`, or forty of them. Disturbed runs are repeated.
/// Ends early, with the runs so far, if a run fails or is interrupted, or `stop` is raised.
capacity_record find_capacity(const capacity_settings& how, const probe_function& probe,
                              const capacity_options& options = {});

/// Makes runs of a session whose plan has arrivals. A run that may be cut off ends once late frames
/// are several times as many as the percentile allows, even if all others were on time: the queue
/// grows without end.
/// @pre `s` and `stop` outlive the function
probe_function make_session_probe(session& s, const capacity_settings& how,
                                  const stop_request* stop = nullptr);

/// A lower bound on the frames that have been due for longer than the bound and are not done,
/// `elapsed` ns after arrivals began; under `poisson` their number varies.
std::int64_t overdue_frames(const capacity_settings& how, double rate, std::int64_t frames,
                            nanoseconds elapsed, std::int64_t done);

/// The number of late frames that decides a run, whatever the rest of its frames do.
std::int64_t enough_late(const capacity_settings& how, std::int64_t frames);

}  // namespace graphline
