#include "tools/graphline/device_set.hpp"

#include <fmt/format.h>

#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {

std::int64_t host_threads(const plan& p, const planned_device& d) {
  if (d.threads > 0) return d.threads;
  if (p.run.threads > 0) return p.run.threads;
  std::string reason;
  return host_backend().list(reason).front().compute_threads;
}

device_group device_set::operator()(const plan& p) {
  std::string key;
  for (const planned_device& d : p.devices) {
    key += fmt::format("{} {} ", d.request.empty() ? d.backend : d.request,
                       d.backend == "host" ? host_threads(p, d) : 0);
  }
  return open_.try_emplace(key, p, name_).first->second.group();
}

std::uint64_t device_set::memory_budget() const {
  // Keeps half for pinned memory, libraries and other programs.
  return builtin_devices().resolve({name_, 0}).memory_bytes.value_or(0) / 2;
}

}  // namespace graphline
