#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "framework/device/device_group.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/pipeline/open_devices.hpp"

namespace graphline {

/// Returns the compute threads of a plan's `host` device.
std::int64_t host_threads(const plan& p, const planned_device& d);

/// The devices of an experiment, opened on first use. Plans share devices that have the same names
/// and, on `host`, the same numbers of compute threads.
class device_set {
 public:
  /// @param name Device of pipelines that declare none.
  explicit device_set(std::string name) : name_(std::move(name)) {}

  device_group operator()(const plan& p);

  /// Returns the device memory for all pipelines together, in bytes; 0 if unknown.
  std::uint64_t memory_budget() const;

 private:
  std::string name_;
  std::map<std::string, open_devices> open_;  ///< by names and numbers of threads
};

}  // namespace graphline
