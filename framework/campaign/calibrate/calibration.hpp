#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/precision.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// How much a calibration moves and computes, and how often.
struct calibration_sizes {
  std::size_t memory_bytes = 0;    ///< of the tensor that is read, written and copied
  std::size_t transfer_bytes = 0;  ///< of one transfer between host and device
  std::int64_t channels = 512;     ///< of the convolution, in and out, with a 5x5 kernel
  std::int64_t side = 0;           ///< of its images
  std::int64_t matrix = 0;         ///< rows and columns of the matrices
  std::int64_t rounds = 5;         ///< over all ceilings, in turn
  std::int64_t most_samples = 20;  ///< of one ceiling in a round
  std::int64_t calls = 100;        ///< in one sample of what a call costs the host
  /// How long the samples of one ceiling take in a round; there are three at least.
  nanoseconds time_each = 0;
};

/// What suits a device: far more than its caches hold, no more than a quarter of its memory in all,
/// about half a minute on a processor, and large enough to keep a GPU busy.
calibration_sizes sizes_for(const device_properties& device);

/// What is wrong with bandwidths that were measured on a tensor of so many bytes, and what to do;
/// empty where it is larger than caches.
std::string doubt_of_caches(std::size_t bytes, const device_properties& device);

/// Something that is ready to measure ceilings, again and again.
class ceiling_measurement {
 public:
  virtual ~ceiling_measurement() = default;
  ceiling_measurement(const ceiling_measurement&) = delete;
  ceiling_measurement& operator=(const ceiling_measurement&) = delete;

  /// What is measured, for progress.
  const std::string& name() const noexcept { return name_; }

  /// Adds samples of each of its ceilings, after a warm-up; fewer once `stop`, which may be null,
  /// is raised. Throws `run_error` when the device fails.
  virtual void add_samples(const stop_request* stop) = 0;

  /// What was measured so far.
  const std::vector<ceiling_record>& ceilings() const noexcept { return ceilings_; }

  /// The libraries that computed, with their versions, as records of runs have them.
  const std::vector<std::pair<std::string, std::string>>& environment() const noexcept {
    return environment_;
  }

 protected:
  explicit ceiling_measurement(std::string name) : name_(std::move(name)) {}

  std::vector<ceiling_record> ceilings_;
  std::vector<std::pair<std::string, std::string>> environment_;

 private:
  std::string name_;
};

/// What it costs the host to launch, record and wait, by its own clock.
std::unique_ptr<ceiling_measurement> measure_driver_costs(const calibration_sizes& sizes,
                                                          device& d);

/// Bandwidths between a device and ordinary memory, by the host's clock. Throws `run_error` when
/// there is not enough memory.
std::unique_ptr<ceiling_measurement> measure_pageable_transfers(const calibration_sizes& sizes,
                                                                device& d);

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
/// Plans, prepares and runs a frame. Throws `error` when that does not succeed, `interrupted_error`
/// when `stop` is raised meanwhile.
std::unique_ptr<ceiling_measurement> measure_pipeline(ceiling_pipeline pipeline,
                                                      const calibration_sizes& sizes,
                                                      const stage_registry& kinds, device& d,
                                                      const stop_request* stop);

struct calibration_options {
  const stop_request* stop = nullptr;
  /// Told before each measurement: what, how many are done and of how many.
  std::function<void(const std::string& what, std::int64_t done, std::int64_t total)> on_progress;
  std::optional<calibration_sizes> sizes = {};  ///< default: what suits the device
};

/// Measures what a device can do at best: bandwidths of its memory and to the host, rates of a
/// large convolution and a large matrix product in each precision it has, and what it costs the
/// host to launch, record and wait. Compute and memory run as pipelines of the registry's own
/// kinds, timed by events as any stage is. What cannot be measured on a device is left out with a
/// warning. Throws `run_error` when the device fails. Once a stop is requested, what was measured
/// so far comes back.
calibration_record calibrate(const stage_registry& kinds, device& d,
                             const calibration_options& options = {});

}  // namespace graphline
