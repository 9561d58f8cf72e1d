#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "framework/base/machine.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// The devices that a pipeline runs on, in plan order. Does not own them.
class device_group {
 public:
  device_group(device& only) : all_{&only} {}
  /// @pre not empty
  explicit device_group(std::vector<device*> all) : all_(std::move(all)) {}

  std::size_t size() const noexcept { return all_.size(); }
  device& operator[](std::size_t i) const noexcept { return *all_[i]; }
  device& front() const noexcept { return *all_.front(); }
  const std::vector<device*>& all() const noexcept { return all_; }

  /// Waits for all devices, then throws the first exception.
  void synchronize(wait_mode how) const {
    std::exception_ptr problem;
    for (device* d : all_) {
      try {
        d->synchronize(how);
      } catch (...) {
        if (!problem) problem = std::current_exception();
      }
    }
    if (problem) std::rethrow_exception(problem);
  }

  /// Returns the device whose pinned memory all can use. Devices with compute threads, on `host`,
  /// copy from any memory.
  device& pinning() const noexcept {
    const auto other =
        std::ranges::find(all_, 0, [](const device* d) { return d->properties().compute_threads; });
    return other == all_.end() ? front() : **other;
  }

  /// Returns the sums.
  memory_usage usage() const noexcept {
    memory_usage sum;
    for (const device* d : all_) {
      const memory_usage of = d->usage();
      sum.device_bytes += of.device_bytes;
      sum.device_peak_bytes += of.device_peak_bytes;
      sum.pinned_bytes += of.pinned_bytes;
      sum.pinned_peak_bytes += of.pinned_peak_bytes;
      sum.allocations += of.allocations;
    }
    return sum;
  }

  std::vector<device_properties> properties() const {
    std::vector<device_properties> list;
    for (const device* d : all_) list.push_back(d->properties());
    return list;
  }

  int compute_threads() const {
    int sum = 0;
    for (const device* d : all_) sum += d->properties().compute_threads;
    return sum;
  }

  /// Returns the CPUs that all devices leave to the host; empty if the host may use all.
  cpu_set host_cpus() const {
    std::optional<cpu_set> common;
    for (const device* d : all_) {
      const cpu_set& left = d->properties().host_cpus;
      if (left.empty()) continue;
      cpu_set both;
      std::ranges::set_intersection(common.value_or(left), left, std::back_inserter(both));
      common = std::move(both);
    }
    return common.value_or(cpu_set());
  }

 private:
  std::vector<device*> all_;
};

}  // namespace graphline
