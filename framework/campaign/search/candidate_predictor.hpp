#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/campaign/predict/prediction.hpp"
#include "framework/plan/experiment_plan.hpp"

namespace graphline {

/// Predicts candidates of a search in virtual time. The stage times come from a run for each
/// combination of parameters and compute threads.
class candidate_predictor {
 public:
  /// @param apart Runs a candidate with each stage timed alone. If it fails, there is no prediction
  /// for its combination; nor is there beyond `most_sources` combinations.
  /// @pre `planned` outlives the object
  candidate_predictor(const experiment_plan& planned,
                      std::function<run_record(std::size_t candidate)> apart)
      : planned_(planned), apart_(std::move(apart)) {}

  static constexpr std::size_t most_sources = 4;

  /// Returns a predicted run; empty if there are no stage times, or if the candidate's settings
  /// have no meaning in virtual time.
  /// @throws interrupted_error if a run of `apart` was interrupted
  std::optional<run_record> predict(std::size_t candidate, std::int64_t frames);

  /// Returns the number of frames that `apart` has measured.
  std::int64_t source_frames() const noexcept { return source_frames_; }

 private:
  const std::vector<prediction_source>& sources_of(std::size_t candidate);

  const experiment_plan& planned_;
  std::function<run_record(std::size_t)> apart_;
  std::map<std::string, std::vector<prediction_source>> sources_;  // by parameters and threads
  std::int64_t source_frames_ = 0;
};

}  // namespace graphline
