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

/// The amount of work of a calibration.
struct calibration_sizes {
  std::size_t memory_bytes = 0;    ///< of the tensor read, written and copied
  std::size_t transfer_bytes = 0;  ///< of one transfer between host and device
  std::int64_t channels = 512;     ///< of the convolution, in and out, with a 5x5 kernel
  std::int64_t side = 0;           ///< of its images
  std::int64_t matrix = 0;         ///< rows and columns of the matrices
  std::int64_t rounds = 5;         ///< over all ceilings, in turn
  std::int64_t most_samples = 20;  ///< of one ceiling in a round
  std::int64_t calls = 100;        ///< in one sample of a host cost
  /// Time for the samples of one ceiling in a round; at least three samples are taken.
  nanoseconds time_each = 0;
};

/// Sizes for a device. Tensors are far larger than its caches and take at most a quarter of its
/// memory in total. The work takes about half a minute on a CPU and is enough to keep a GPU busy.
calibration_sizes sizes_for(const device_properties& device);

/// A warning, with the remedy, that a tensor of this size may fit into caches; else empty.
std::string doubt_of_caches(std::size_t bytes, const device_properties& device);

/// A stage of a pipeline whose time gives a ceiling.
struct measured_stage {
  ceiling what = ceiling::read;
  std::string stage;
  std::optional<std::string> part = {};  ///< times this part instead of the whole stage
  std::string how;                       ///< for people
};

/// A pipeline that measures ceilings.
struct ceiling_pipeline {
  std::string name;  ///< "convolution in float16"
  precision arithmetic = precision::float32;
  pipeline_spec spec;
  std::vector<measured_stage> measured;
};

/// A large convolution between two small ones, which convert tensors to and from its preferred type
/// and layout.
ceiling_pipeline convolution_pipeline(const calibration_sizes& sizes, precision p);

/// The product of two square matrices, likewise between two small layers.
ceiling_pipeline matmul_pipeline(const calibration_sizes& sizes, precision p);

struct calibration_options {
  const stop_request* stop = nullptr;
  /// Called before each measurement.
  std::function<void(const std::string& what, std::int64_t done, std::int64_t total)> on_progress;
  std::optional<calibration_sizes> sizes = {};  ///< default: `sizes_for` the device
};

/// Measures the ceilings of a device: bandwidths of its memory and to the host, rates of a large
/// convolution and a large matrix product in each supported precision, and the host cost of
/// launching, recording and waiting. Compute and memory ceilings run as pipelines of the registry's
/// kinds, timed by events like any stage. A ceiling that cannot be measured is omitted with a
/// warning. A stop request returns the ceilings measured so far.
/// @throws run_error if the device fails
calibration_record calibrate(const stage_registry& kinds, device& d,
                             const calibration_options& options = {});

}  // namespace graphline
