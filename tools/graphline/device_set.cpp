#include "tools/graphline/device_set.hpp"

#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {
namespace {

int host_threads(const plan& p) {
  if (p.run.threads > 0) return static_cast<int>(p.run.threads);
  std::string reason;
  return host_backend().list(reason).front().compute_threads;
}

}  // namespace

device& device_set::operator()(const plan& p) {
  const bool on_host = builtin_devices().resolve({name_, 0}).backend == "host";
  auto& slot = open_[on_host ? host_threads(p) : 0];
  if (slot == nullptr) slot = builtin_devices().open({name_, static_cast<int>(p.run.threads)});
  return *slot;
}

std::uint64_t device_set::memory_budget() const {
  // Keeps half for pinned memory, libraries and other programs.
  return builtin_devices().resolve({name_, 0}).memory_bytes.value_or(0) / 2;
}

}  // namespace graphline
