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
  std::vector<std::size_t> candidates;  ///< in the order of preference
  experiment_settings how;
  std::int64_t frames = 0;  ///< of a trial
};

/// Share of the time limit that predictions may take, after planning.
inline constexpr double predicted_share = 0.15;

struct search_options {
  search_goal goal = {};
  nanoseconds time_limit = 60'000'000'000;  ///< approximate, with the confirmation
  std::uint64_t seed = 1;                   ///< of the random order
  std::optional<std::int64_t> frames = {};  ///< of each trial; default: as the time allows
  std::function<nanoseconds()> clock = now;
  std::optional<nanoseconds> begun = {};  ///< when planning began, by `clock`; default: at the call
  const stop_request* stop = nullptr;
  /// Called after each trial of the "screening" and each round of the "racing".
  std::function<void(std::string_view phase, std::size_t done, std::size_t most)> on_progress =
      [](std::string_view, std::size_t, std::size_t) {};
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

/// Searches for the candidate with the best objective that meets all limits, as docs/search.md
/// describes: predicts, screens, races and confirms. Predictions that correlate with measurements
/// (Kendall's tau-b of at least `least_tau`) exclude candidates. A candidate with a failed trial
/// drops out, except the file's settings.
/// @return The confirmation, with `search` set; without trials if `stop` is raised before it
/// @throws run_error if the file's settings cannot run
/// @throws input_error, naming a sufficient --time-limit, if the frames that the confirmation needs
/// take more than twice the time limit with the file's settings
experiment_record find_best_settings(const experiment_plan& planned, const search_measurements& by,
                                     const search_options& options);

}  // namespace graphline
