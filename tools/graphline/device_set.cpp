#include "tools/graphline/device_set.hpp"

#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {
namespace {

/// The compute threads of `host` under a plan.
int host_threads(const plan& p) {
  if (p.run.threads > 0) return static_cast<int>(p.run.threads);
  std::string reason;
  return host_backend().list(reason).front().compute_threads;
}

}  // namespace

device& device_set::operator()(const plan& p) {
  const bool on_host = builtin_devices().resolve({name_, 0}) == "host";
  auto& slot = open_[on_host ? host_threads(p) : 0];
  if (slot == nullptr) slot = builtin_devices().open({name_, static_cast<int>(p.run.threads)});
  return *slot;
}

}  // namespace graphline
