#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/device/device.hpp"

namespace graphline {

/// A requested device: "host", "host:1", "cuda", "cuda:1", or "auto" for a GPU if there is one,
/// else `host`. An index tells several `host` devices apart.
struct device_request {
  std::string name = "auto";
  int host_threads = 0;  ///< compute threads of `host`; 0 for half the cores, at least one
  cpu_set taken = {};    ///< CPUs that other `host` devices have reserved
};

/// A backend of this build.
struct backend {
  std::string name;
  /// Lists the devices of this machine. If there are none, sets `reason`.
  std::vector<device_properties> (*list)(std::string& reason);
  std::unique_ptr<device> (*open)(int index, const device_request& request);
  /// Returns why two devices cannot `exchange_with` each other; empty if they can. Null if no two
  /// of the backend can.
  /// @throws run_error if the backend cannot tell
  std::string (*why_apart)(int index, int other) = nullptr;
};

/// The backends of a program, in order of preference for "auto".
class device_list {
 public:
  explicit device_list(std::vector<backend> backends) : backends_(std::move(backends)) {}

  const std::vector<backend>& backends() const noexcept { return backends_; }

  /// Returns the properties of the device that a request resolves to, without opening it.
  /// @throws input_error for an unknown name
  /// @throws no_device_error listing the devices found, if the requested one is not available
  device_properties resolve(const device_request& request) const;

  /// Opens the device that a request resolves to. Throws like `resolve`.
  std::unique_ptr<device> open(const device_request& request) const;

  /// Returns why two devices, named as "cuda:1", cannot `exchange_with` each other; empty if they
  /// can.
  /// @throws run_error if the backend cannot tell
  std::string why_apart(const std::string& device, const std::string& other) const;

 private:
  std::vector<backend> backends_;
};

}  // namespace graphline
