#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/precision.hpp"
#include "framework/base/units.hpp"
#include "framework/base/words.hpp"
#include "framework/device/device.hpp"
#include "framework/record/fields.hpp"

namespace graphline {

/// Device limits that a calibration measures, with their units.
enum class ceiling {
  read,                     ///< bytes/s from device memory
  write,                    ///< bytes/s to device memory
  copy,                     ///< bytes/s within device memory; reads and writes both count
  host_to_device_pinned,    ///< bytes/s, each byte counted once; also the next three
  device_to_host_pinned,    ///<
  host_to_device_pageable,  ///<
  device_to_host_pageable,  ///<
  convolution,              ///< FLOP/s
  matmul,                   ///< FLOP/s
  launch,                   ///< host time in ns to launch a graph of one small operation
  event,                    ///< host time in ns to record a timed event
  synchronize,              ///< host time in ns to wait for an idle device
  round_trip,               ///< ns from the launch of a small operation until the host sees its end
};
inline constexpr word<ceiling> ceiling_words[] = {
    {"read", ceiling::read},
    {"write", ceiling::write},
    {"copy", ceiling::copy},
    {"host_to_device_pinned", ceiling::host_to_device_pinned},
    {"device_to_host_pinned", ceiling::device_to_host_pinned},
    {"host_to_device_pageable", ceiling::host_to_device_pageable},
    {"device_to_host_pageable", ceiling::device_to_host_pageable},
    {"convolution", ceiling::convolution},
    {"matmul", ceiling::matmul},
    {"launch", ceiling::launch},
    {"event", ceiling::event},
    {"synchronize", ceiling::synchronize},
    {"round_trip", ceiling::round_trip}};
template <>
struct words_of<ceiling> {
  static constexpr const auto& table = ceiling_words;
};

/// Returns the unit of a ceiling.
constexpr unit unit_of(ceiling what) noexcept {
  if (what >= ceiling::launch) return unit::duration;
  return what >= ceiling::convolution ? unit::flops_per_second : unit::bytes_per_second;
}

/// Raw samples of one ceiling.
struct ceiling_record {
  ceiling what = ceiling::read;
  precision arithmetic = precision::float32;  ///< of `convolution` and `matmul`
  std::string how;                 ///< workload: "512 to 512 channels, 5x5, on [1, 512, 256, 256]"
  double amount = 0;               ///< bytes, FLOPs or calls per sample
  std::vector<nanoseconds> times;  ///< one per sample
};

template <class Archive>
void fields(Archive& a, part_of_record<ceiling_record> auto& of) {
  a.value("what", of.what);
  a.value("precision", of.arithmetic);
  a.value("how", of.how);
  a.value("amount", of.amount, any_ceiling);
  a.value("times_ns", of.times, time_above_0);
}

/// Raw results of a calibration.
struct calibration_record {
  device_properties device;
  std::vector<std::pair<std::string, std::string>> environment;  ///< versions, machine, date
  std::vector<ceiling_record> ceilings;                          ///< in the order of `ceiling`
  std::vector<std::string> warnings;
  bool interrupted = false;  ///< stopped by the user; some ceilings may be missing
};

template <class Archive>
void fields(Archive& a, part_of_record<calibration_record> auto& of) {
  a.value("device", of.device);
  a.value("environment", of.environment);
  a.value("ceilings", of.ceilings);
  a.value("warnings", of.warnings);
  a.value("interrupted", of.interrupted);
}

/// Figures of a ceiling, for comparison with measured times.
struct ceiling_figure {
  ceiling what = ceiling::read;
  precision arithmetic = precision::float32;
  double value = 0;  ///< at the median time, in `unit_of(what)`
  double worst = 0;  ///< at the 90th percentile of the times
  double best = 0;   ///< at the 10th percentile of the times
  friend bool operator==(const ceiling_figure&, const ceiling_figure&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<ceiling_figure> auto& of) {
  a.value("what", of.what);
  a.value("precision", of.arithmetic);
  a.value("value", of.value, any_ceiling);
  a.value("worst", of.worst, any_ceiling);
  a.value("best", of.best, any_ceiling);
}

/// Calibration stored in results that use it.
struct calibration {
  std::string date;                      ///< UTC, as in environments
  std::vector<ceiling_figure> ceilings;  ///< in the order of `ceiling`
  std::vector<std::string> stale;        ///< reasons why it may be outdated
  friend bool operator==(const calibration&, const calibration&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<calibration> auto& of) {
  a.value("date", of.date);
  a.value("ceilings", of.ceilings);
  a.value("stale", of.stale);
}

}  // namespace graphline
