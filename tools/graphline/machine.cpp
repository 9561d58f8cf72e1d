#include "tools/graphline/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {
namespace {

char** command_line = nullptr;

/// Makes idle OpenMP threads of the `host` device sleep instead of spinning on the cores that CPU
/// stages need. libgomp reads its policy when it is loaded, so the program starts itself again with
/// OMP_WAIT_POLICY=PASSIVE, once, unless the user has set a policy or there is one compute thread
/// only. Call before anything is opened or printed.
void make_openmp_passive(int compute_threads) {
  if (compute_threads < 2 || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  ::execv("/proc/self/exe", command_line);
  // Where that is not possible (no /proc), idle threads spin; results are right all the same.
}

bool is_host(const std::string& device_name) {
  return builtin_devices().resolve({device_name, 0}) == "host";
}

/// What the host device will compute with where so many threads are asked for.
int host_threads(int threads) {
  if (threads > 0) return threads;
  std::string reason;
  return host_backend().list(reason).front().compute_threads;
}

int host_threads(const plan& p) {
  return host_threads(static_cast<int>(p.run.threads));
}

}  // namespace

void remember_command_line(char** argv) {
  command_line = argv;
}

std::unique_ptr<device> open_device(const std::string& device_name, const plan& p) {
  return open_device(device_name, static_cast<int>(p.run.threads));
}

std::unique_ptr<device> open_device(const std::string& device_name, int threads) {
  if (is_host(device_name)) make_openmp_passive(host_threads(threads));
  return builtin_devices().open({device_name, threads});
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
  if (slot == nullptr) slot = builtin_devices().open({name_, static_cast<int>(p.run.threads)});
  return *slot;
}

}  // namespace graphline
