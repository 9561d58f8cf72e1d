#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/campaign/predict/prediction.hpp"
#include "framework/campaign/predict/source_times.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/virtual_session.hpp"

namespace graphline {

/// Runs a plan in virtual time, with stage times of recorded runs. Any number of runs; the same
/// calls give the same records. The runs have `timing: event` and no `max_time`; the environment of
/// their records is the first source's.
class predictor {
 public:
  /// @param sources At least one; measured with `timing: event` and the same settings.
  /// @pre `p` outlives the object
  /// @throws input_error if a source lacks what the plan needs, with the reason and the remedy
  predictor(const plan& p, const std::vector<prediction_source>& sources,
            const prediction_options& options = {});

  const source_times& times() const noexcept { return times_; }

  /// Returns the number of CPU stages that can run concurrently.
  int cores() const noexcept { return cores_; }

  /// Where the runs come from. Without replicates, intervals and sensitivity.
  const prediction_record& origin() const noexcept { return origin_; }

  /// Returns the number of the source from which a replicate draws frames: each in turn.
  std::size_t source_of(std::uint64_t number) const noexcept {
    return number % times_.counts().size();
  }

  /// Runs frames of the sources in order, an equal part of each. Stage `faster`, if any, takes 10 %
  /// less time.
  run_record in_turn(std::optional<std::size_t> faster = {});

  /// Runs blocks of frames drawn from one source. Frames and arrivals depend on the plan's seed,
  /// `number` and `block_length` only; a longer run begins with the frames of a shorter one.
  /// @param block_length Default: that of `times()`.
  run_record replicate(std::uint64_t number, const virtual_run_options& options = {},
                       std::optional<std::size_t> block_length = {});

 private:
  run_record run(const std::vector<std::uint32_t>& order, const virtual_run_options& options,
                 std::optional<std::size_t> faster = {});

  source_times times_;
  prediction_record origin_;
  std::vector<std::pair<std::string, std::string>> environment_;
  int cores_;
  virtual_session session_;
};

/// Returns a warning for each source whose pipeline had another file or other parameters.
std::vector<std::string> changed_sources(const plan& p,
                                         const std::vector<prediction_source>& sources);

/// Returns a warning for each source whose times a disturbance of its machine made unreliable.
std::vector<std::string> disturbed_sources(const std::vector<prediction_source>& sources);

}  // namespace graphline
