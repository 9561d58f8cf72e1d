#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"

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

/// The same with half as much to move, and images and matrices of half the width and height.
calibration_sizes halved(calibration_sizes sizes);

}  // namespace graphline
