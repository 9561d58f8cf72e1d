#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// The devices of an experiment, opened on first use. On `host`, there is a device for each number
/// of compute threads; otherwise there is one device.
class device_set {
 public:
  explicit device_set(std::string name) : name_(std::move(name)) {}

  device& operator()(const plan& p);

  /// Returns the device memory for all pipelines together, in bytes; 0 if unknown.
  std::uint64_t memory_budget() const;

 private:
  std::string name_;
  std::map<int, std::unique_ptr<device>>
      open_;  ///< key: number of compute threads on `host`, otherwise 0
};

}  // namespace graphline
