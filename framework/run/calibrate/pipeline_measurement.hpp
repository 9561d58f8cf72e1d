#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/run/calibrate/calibration_pipelines.hpp"
#include "framework/run/calibrate/ceiling_measurement.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Ceilings from the times of a pipeline's stages.
class pipeline_measurement final : public ceiling_measurement {
 public:
  /// Plans, prepares and runs a frame. Throws `error` when that does not succeed,
  /// `interrupted_error` when `stop` is raised meanwhile.
  pipeline_measurement(ceiling_pipeline pipeline, const calibration_sizes& sizes,
                       const stage_registry& kinds, device& d, const stop_request* stop);

  const std::string& name() const noexcept override { return pipeline_.name; }
  void add_samples(const stop_request* stop) override;
  const std::vector<ceiling_record>& ceilings() const noexcept override { return ceilings_; }

  /// The libraries that computed, with their versions, as records of runs have them.
  const std::vector<std::pair<std::string, std::string>>& environment() const noexcept {
    return environment_;
  }

 private:
  /// Frames after a warm-up; decides how many the next run has.
  run_record run(std::int64_t frames, const stop_request* stop);

  void describe(const run_record& record);
  void keep(const run_record& record);

  ceiling_pipeline pipeline_;
  calibration_sizes sizes_;
  session session_;
  std::vector<ceiling_record> ceilings_;  ///< one for each of `pipeline_.measured`
  std::vector<std::pair<std::string, std::string>> environment_;
  std::int64_t frames_ = 1;  ///< of the next run that measures
};

}  // namespace graphline
