#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/device/device_group.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// Opens and owns the devices of a pipeline.
class open_devices {
 public:
  /// Opens the devices that a plan declares, else the one of this name. Several `host` devices
  /// compute on different cores where there are enough.
  /// @throws input_error, no_device_error or run_error as `device_list::open`
  open_devices(const plan& p, const std::string& name);

  device_group group() const;

 private:
  std::vector<std::unique_ptr<device>> all_;
};

}  // namespace graphline
