#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/run/calibrate/calibration_sizes.hpp"
#include "framework/run/calibrate/ceiling_measurement.hpp"

namespace graphline {

/// What it costs the host to hand over and to wait, by its own clock. What takes less than a
/// microsecond is measured many calls at a time.
class driver_costs final : public ceiling_measurement {
 public:
  driver_costs(const calibration_sizes& sizes, device& d);

  const std::string& name() const noexcept override { return name_; }
  void add_samples(const stop_request* stop) override;
  const std::vector<ceiling_record>& ceilings() const noexcept override { return ceilings_; }

 private:
  /// Of so many calls, with the device idle before and after.
  nanoseconds time_of(std::int64_t calls, const std::function<void()>& call);
  void round_trip();

  std::string name_ = "costs of the host";
  calibration_sizes sizes_;
  device& device_;
  std::unique_ptr<stream> stream_;
  memory touched_;
  std::unique_ptr<event> seen_;
  std::unique_ptr<timed_event> recorded_;
  std::unique_ptr<graph_exec> small_;
  std::vector<ceiling_record> ceilings_;  ///< launch, event, synchronize, round trip
};

}  // namespace graphline
