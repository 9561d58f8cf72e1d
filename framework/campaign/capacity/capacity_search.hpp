#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "framework/base/stop_request.hpp"
#include "framework/campaign/experiment/trial_runner.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/run/execute/machine_watch.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {

struct probe_request {
  /// Frames due per second; of a set, the factor on its rates. Empty: all frames due at once.
  std::optional<double> rate;
  std::int64_t frames = 0;
  std::uint64_t seed = 1;    ///< seed of random arrivals
  bool may_cut_off = false;  ///< the run may end early once its verdict is clear
  progress_function on_progress;
};

/// Makes a run and sets `members`; if the run ended early, sets `cut_off` and `overdue` too. Its
/// exceptions propagate through the search.
using probe_function = std::function<capacity_run(const probe_request&)>;

struct capacity_progress {
  std::optional<double> rate;  ///< rate of the current run; empty for the closed loop
  /// The interval so far. Before there is an interval: the highest rate that met the bound, and the
  /// lowest that missed it.
  std::optional<double> low;
  std::optional<double> high;
  progress run;  ///< progress of the current run
};

struct capacity_options {
  const stop_request* stop = nullptr;  ///< polled between runs
  std::function<void(const capacity_progress&)> on_progress;
  /// Starts watching the machine. If empty, the record has no conditions.
  std::function<machine_watch()> watch_machine = {};
  std::optional<prediction_record> prediction = {};  ///< if the runs are in virtual time
  std::optional<capacity_set> set = {};              ///< if several pipelines run concurrently
};

/// Returns the smallest number of frames with which a run can show that the percentile meets the
/// bound: `frames_to_hold` plus the first tenth of the frames, which does not count.
std::int64_t least_capacity_frames(double percentile);

/// Returns the number of frames per single run: at least 100, and enough that about twelve are
/// beyond the percentile. If the closed loop's throughput is known (`closed_loop`, in frame/s):
/// - at least one second of frames or 20,000, whichever is less;
/// - at least `frames_for_queue` or 30 seconds of frames, whichever is less.
std::int64_t usual_capacity_frames(const capacity_settings& how, double closed_loop = 0,
                                   std::int64_t batch_frames = 1);

/// Searches for the highest rate at which the percentile meets the bound:
/// - A closed loop measures the throughput and, unless `how` sets it, the number of frames per run.
/// - Single runs start at half that throughput, or at 90 % if `batch_wait` and a full batch exceed
///   the bound. They end when the lowest rate that missed the bound is at most 25 % above a rate
///   that met it.
/// - Pooled runs near that rate are four times as long, or twice for `poisson`. Each uses other
///   arrivals, at the rate for which `estimate_capacity` expects most information. Disturbed runs
///   are repeated.
/// A set has no closed loop: its runs start at its own rates, a factor of 1.
///
/// The search ends when the interval is as narrow as `within`, or after 40 undisturbed or 14
/// disturbed pooled runs. It ends early, with the runs so far, if a run fails or is interrupted, or
/// if `stop` is raised.
capacity_record find_capacity(const capacity_settings& how, const probe_function& probe,
                              const capacity_options& options = {});

using run_function = std::function<run_record(const run_options&)>;

/// Returns a function that makes runs with `run`, whose plan has arrivals and these settings. A run
/// that may be cut off ends once so many frames are late that the queue must be growing: several
/// times as many as the percentile allows.
/// @pre `stop` outlives the function
probe_function make_probe(run_function run, const settings& planned, const capacity_settings& how,
                          const stop_request* stop = nullptr);

/// Returns `make_probe` with the runs of a session.
/// @pre `s` and `stop` outlive the function
probe_function make_session_probe(session& s, const capacity_settings& how,
                                  const stop_request* stop = nullptr);

/// Returns how many of these frames of the pipeline with the lowest rate are due before the first
/// trace of a set ends.
std::int64_t frames_of_set(const std::vector<plan>& members, std::int64_t frames);

/// Returns a function that runs a configuration with all rates multiplied. A run lasts until the
/// frames of the pipeline with the lowest rate are due, or a trace ends.
/// @pre each pipeline has constant, trace or closed arrivals, and at least one has a `rate_of`
/// @pre `runner` and `stop` outlive the function
probe_function make_set_probe(const experiment_plan& planned, std::size_t configuration,
                              trial_runner& runner, const stop_request* stop = nullptr);

/// Returns a lower bound on the number of unfinished frames that have been due for longer than the
/// bound. Allows for random arrivals under `poisson`.
/// @param elapsed Nanoseconds since the first arrival of `constant`.
/// @param burst Frames in each arrival.
/// @pre `how.arrival` is not `trace`
std::int64_t overdue_frames(const capacity_settings& how, double rate, std::int64_t frames,
                            nanoseconds elapsed, std::int64_t done, std::int64_t burst = 1);

/// Returns the number of late frames with which a run is certain to miss the bound.
std::int64_t enough_late(const capacity_settings& how, std::int64_t frames);

}  // namespace graphline
