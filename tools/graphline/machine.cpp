#include "tools/graphline/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/device/host/host_device.hpp"
#include "tools/graphline/passive_openmp.hpp"

namespace graphline {
namespace {

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

device_request request_for(const std::string& device_name, const plan& p) {
  return {device_name, static_cast<int>(p.run.threads)};
}

bool is_host(const std::string& device_name) {
  return builtin_devices().resolve({device_name, 0}) == "host";
}

/// What the host device will compute with.
int host_threads(const plan& p) {
  if (p.run.threads > 0) return static_cast<int>(p.run.threads);
  std::string reason;
  return host_backend().list(reason).front().compute_threads;
}

}  // namespace

plan_target target_of(const std::string& device_name) {
  plan_target result;
  result.backend = builtin_devices().resolve({device_name, 0});
  result.host_memory_bytes = physical_memory();
  if (result.backend == "host") result.device_memory_bytes = result.host_memory_bytes;
  return result;
}

std::string backend_of(const std::string& device_name) {
  try {
    return builtin_devices().resolve({device_name, 0});
  } catch (const no_device_error&) {
    return device_name.substr(0, device_name.find(':'));
  }
}

std::unique_ptr<device> open_device(const std::string& device_name, const plan& p) {
  if (is_host(device_name)) make_openmp_passive(host_threads(p));
  return builtin_devices().open(request_for(device_name, p));
}

device_set::device_set(std::string device_name, const std::vector<const plan*>& plans)
    : name_(std::move(device_name)), host_(is_host(name_)) {
  if (!host_) return;
  int most = 0;
  for (const plan* p : plans) most = std::max(most, host_threads(*p));
  make_openmp_passive(most);
}

device& device_set::operator()(const plan& p) {
  auto& slot = open_[host_ ? host_threads(p) : 0];
  if (slot == nullptr) slot = builtin_devices().open(request_for(name_, p));
  return *slot;
}

}  // namespace graphline
