#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/run/calibrate/calibration_sizes.hpp"
#include "framework/run/calibrate/ceiling_measurement.hpp"

namespace graphline {

/// Bandwidths between a device and ordinary memory, which a graph cannot have in it: by the host's
/// clock, from the call until the host has seen the copy done.
class pageable_transfers final : public ceiling_measurement {
 public:
  /// Throws `run_error` when there is not enough memory.
  pageable_transfers(const calibration_sizes& sizes, device& d);

  const std::string& name() const noexcept override { return name_; }
  void add_samples(const stop_request* stop) override;
  const std::vector<ceiling_record>& ceilings() const noexcept override { return ceilings_; }

 private:
  nanoseconds copy(void* to, const void* from);

  std::string name_ = "transfers of ordinary memory";
  calibration_sizes sizes_;
  device& device_;
  std::unique_ptr<stream> stream_;
  memory there_;
  std::vector<float> here_;
  std::vector<ceiling_record> ceilings_;  ///< to the device, to the host
};

}  // namespace graphline
