#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "framework/analysis/search/search_goal.hpp"
#include "framework/base/clock.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/campaign/experiment/trial_runner.hpp"
#include "framework/campaign/search/search_space.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// An experiment that confirms the result of a race.
struct confirmation_request {
  std::vector<std::size_t> candidates;  ///< the file's settings, then in the order of preference
  experiment_settings how;
  std::int64_t frames = 0;  ///< of a trial
};

struct search_progress {
  std::string_view phase;  ///< "screening" or "racing"
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< trials of the phase, at most
};

struct search_options {
  search_goal goal = {};
  nanoseconds time_limit = 60'000'000'000;  ///< approximate, with the confirmation
  std::uint64_t seed = 1;                   ///< of the random order
  std::optional<std::int64_t> frames = {};  ///< of each trial; default: as the time allows
  std::function<nanoseconds()> clock = now;
  const stop_request* stop = nullptr;
  std::function<void(const search_progress&)> on_progress = {};
};

/// How a search measures.
struct search_measurements {
  /// Runs the trials of candidates; not used once the confirmation begins.
  trial_runner& trials;
  /// Predicts a run of a candidate. If empty, or if it returns nothing, there is no prediction.
  std::function<std::optional<run_record>(std::size_t candidate, std::int64_t frames)> predict = {};
  /// Runs the confirmation, on fresh trials.
  std::function<experiment_record(const confirmation_request&)> confirm;
};

/// Searches for the candidate with the best objective that meets all limits:
/// - Predicts each candidate.
/// - Screens candidates by one trial each. The first ten are spread over the ranks of the
///   predictions. If predictions and measurements of these correlate (Kendall's tau-b of at least
///   `least_tau`), candidates are skipped whose prediction is above the best by more than three
///   times the spread of the predictions' errors, or that are not in the best predicted third; else
///   all are screened. The best predicted come first, until 40 % of the time limit has passed.
/// - Races the best third of the screened candidates, 8 to 12, in blocks of one trial each, in
///   random order. After each block, candidates drop out that are conclusively worse than the best
///   or violate a limit; see `judge_race`. Only the best six go on after two blocks, and the best
///   four after four. The race ends after six blocks, after 65 % of the time limit, or when all
///   others are within the margin of the best.
/// - Confirms the file's settings, the simplest candidate within the margin of the best, the best,
///   and the next best, at most four, on fresh trials.
/// A candidate with a failed trial drops out, except the file's settings.
/// @return The confirmation, with `search` set; without trials if `stop` is raised before it
/// @throws run_error if the file's settings cannot run
experiment_record find_best_settings(const search_space& space, const search_measurements& by,
                                     const search_options& options);

}  // namespace graphline
