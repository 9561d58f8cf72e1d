#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/record/calibration_record.hpp"

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

 protected:
  explicit ceiling_measurement(std::string name) : name_(std::move(name)) {}

  std::vector<ceiling_record> ceilings_;

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

}  // namespace graphline
