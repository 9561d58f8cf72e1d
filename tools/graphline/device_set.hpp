#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// The devices that the plans of an experiment run on: one, or on `host` one for each number of
/// compute threads that they ask for. Opened when first asked for.
class device_set {
 public:
  explicit device_set(std::string device_name) : name_(std::move(device_name)) {}

  /// Stays open as long as this exists. Throws as `device_list::open` does.
  device& operator()(const plan& p);

 private:
  std::string name_;
  std::map<int, std::unique_ptr<device>> open_;  ///< by threads; 0 for what has no such number
};

}  // namespace graphline
