#include <string_view>

#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
#include "stages/spinning.hpp"

namespace graphline {
namespace {

class device_spin final : public device_stage, host_operation {
 public:
  explicit device_spin(nanoseconds duration) : duration_(duration) {}

  std::vector<stage_part> parts() const override { return {{"spin", "a loop on the CPU's clock"}}; }

  std::unique_ptr<device_work> bind(const stage_tensors& /*tensors*/) override {
    return one_part([this](stream& s) { host_enqueue(s, *this); });
  }

  std::string_view name() const noexcept override { return "spin"; }
  void run() override { spin_cpu_time(duration_); }

 private:
  nanoseconds duration_;
};

}  // namespace

std::unique_ptr<device_stage> make_host_spin(device& /*d*/, const stage_config& config) {
  return std::make_unique<device_spin>(device_spin_time(config));
}

}  // namespace graphline
