#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/precision.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Amount of work of a calibration.
struct calibration_sizes {
  std::size_t memory_bytes = 0;    ///< size of the tensor that is read, written and copied
  std::size_t transfer_bytes = 0;  ///< size of one transfer between host and device
  std::int64_t channels = 512;     ///< input and output channels of the 5x5 convolution
  std::int64_t side = 0;           ///< height and width of the convolution's images
  std::int64_t matrix = 0;         ///< rows and columns of the matrices
  std::int64_t rounds = 5;         ///< each measures all ceilings in turn
  std::int64_t most_samples = 20;  ///< maximum for one ceiling in a round
  std::int64_t calls = 100;        ///< calls in one sample of a host cost
  /// Time limit for the samples of one ceiling in a round. At least three samples are taken.
  nanoseconds time_each = 0;
};

/// Returns sizes for a device. Tensors are far larger than its caches and take at most a quarter of
/// its memory. The work takes about half a minute on a CPU and keeps a GPU busy.
calibration_sizes sizes_for(const device_properties& device);

/// Returns a warning with a remedy if a tensor of this size may fit into caches; else "".
std::string doubt_of_caches(std::size_t bytes, const device_properties& device);

/// Stage or part whose time gives a ceiling.
struct measured_stage {
  ceiling what = ceiling::read;
  std::string stage;
  std::optional<std::string> part = {};  ///< if set, times this part instead of the whole stage
  std::string how;                       ///< what was measured, in words
};

struct ceiling_pipeline {
  std::string name;  ///< "convolution in float16"
  precision arithmetic = precision::float32;
  pipeline_spec spec;
  std::vector<measured_stage> measured;
};

/// Makes a pipeline of a large convolution between two small ones. The small ones convert tensors
/// to and from the type and layout that the large one prefers.
ceiling_pipeline convolution_pipeline(const calibration_sizes& sizes, precision p);

/// Makes a pipeline that multiplies two square matrices between two small layers.
ceiling_pipeline matmul_pipeline(const calibration_sizes& sizes, precision p);

struct calibration_options {
  const stop_request* stop = nullptr;
  /// Called before each measurement.
  std::function<void(const std::string& what, std::int64_t done, std::int64_t total)> on_progress;
  std::optional<calibration_sizes> sizes = {};  ///< default: `sizes_for` the device
};

/// Measures the ceilings of a device: bandwidths of its memory and to the host, rates of a large
/// convolution and a large matrix product in each precision, and host costs of launching, recording
/// and waiting. Compute and memory ceilings are measured by pipelines of `kinds`, timed by events.
/// Adds a warning for each ceiling that cannot be measured. After a stop request, returns the
/// ceilings measured so far.
/// @throws run_error if the device fails
calibration_record calibrate(const stage_registry& kinds, device& d,
                             const calibration_options& options = {});

}  // namespace graphline
