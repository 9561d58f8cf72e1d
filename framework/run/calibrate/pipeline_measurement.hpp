#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/run/calibrate/ceiling_measurement.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// A stage of a pipeline whose time a ceiling is computed from.
struct measured_stage {
  ceiling what = ceiling::read;
  std::string stage;
  std::optional<std::string> part = {};  ///< of the stage, which is timed instead of all of it
  std::string how;                       ///< what it does, in words
};

/// A pipeline that measures ceilings.
struct ceiling_pipeline {
  std::string name;  ///< "convolution in float16"
  precision arithmetic = precision::float32;
  pipeline_spec spec;
  std::vector<measured_stage> measured;
};

/// `copy`, then `read` of what was copied, then `write` of another tensor as large.
ceiling_pipeline memory_pipeline(const calibration_sizes& sizes);

/// To the device and back, pinned memory on the host.
ceiling_pipeline transfer_pipeline(const calibration_sizes& sizes);

/// A large convolution between two small ones, so that it reads and writes what it works best on:
/// what brings tensors into another type or layout is none of it.
ceiling_pipeline convolution_pipeline(const calibration_sizes& sizes, precision p);

/// The product of two square matrices, as a layer between two small ones for the same reason.
ceiling_pipeline matmul_pipeline(const calibration_sizes& sizes, precision p);

/// Ceilings from the times of a pipeline's stages, one for each of `ceiling_pipeline::measured`.
class pipeline_measurement final : public ceiling_measurement {
 public:
  /// Plans, prepares and runs a frame. Throws `error` when that does not succeed,
  /// `interrupted_error` when `stop` is raised meanwhile.
  pipeline_measurement(ceiling_pipeline pipeline, const calibration_sizes& sizes,
                       const stage_registry& kinds, device& d, const stop_request* stop);

  void add_samples(const stop_request* stop) override;

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
  std::vector<std::pair<std::string, std::string>> environment_;
  std::int64_t frames_ = 1;  ///< of the next run that measures
};

}  // namespace graphline
