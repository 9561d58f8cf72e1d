#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/run/calibrate/calibration_sizes.hpp"
#include "framework/spec/pipeline_spec.hpp"

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

}  // namespace graphline
