#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/device/device.hpp"

namespace graphline {

/// What the user asked for: "host", "cuda", "cuda:1", or "auto" for a GPU where there is one and
/// `host` otherwise.
struct device_request {
  std::string name = "auto";
  int host_threads = 0;  ///< compute threads of `host`; 0: half the cores, at least one
};

/// A backend that this program was built with.
struct backend {
  std::string name;
  /// The devices it finds on this machine; an empty list and a reason when there is none.
  std::vector<device_properties> (*list)(std::string& reason);
  std::unique_ptr<device> (*open)(int index, const device_request& request);
};

/// The backends in this build, best first. Each backend's library adds its own entry through
/// `make_backends` of the program that links it.
class device_list {
 public:
  explicit device_list(std::vector<backend> backends) : backends_(std::move(backends)) {}

  const std::vector<backend>& backends() const noexcept { return backends_; }

  /// The backend name a request resolves to ("host" or "cuda"). Throws `input_error` for a name
  /// that is none, `no_device_error` for a device that cannot be had, saying what was found.
  std::string resolve(const device_request& request) const;

  /// Opens the device a request resolves to. Throws as `resolve` does.
  std::unique_ptr<device> open(const device_request& request) const;

 private:
  std::vector<backend> backends_;
};

}  // namespace graphline
