#include "framework/run/pipeline/open_devices.hpp"

#include <algorithm>
#include <iterator>

#include "framework/device/builtin/builtin_devices.hpp"

namespace graphline {

open_devices::open_devices(const plan& p, const std::string& name) {
  device_request request;
  for (const planned_device& planned : p.devices) {
    request.name = planned.request.empty() ? name : planned.request;
    request.host_threads = static_cast<int>(planned.threads > 0 ? planned.threads : p.run.threads);
    all_.push_back(builtin_devices().open(request));
    const cpu_set& left = all_.back()->properties().host_cpus;
    if (left.empty()) continue;
    std::ranges::set_difference(usable_cpus(), left, std::back_inserter(request.taken));
    std::ranges::sort(request.taken);
  }
}

device_group open_devices::group() const {
  std::vector<device*> list;
  for (const auto& each : all_) list.push_back(each.get());
  return device_group(std::move(list));
}

}  // namespace graphline
