#include "tests/device/cuda/fake/api.hpp"

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/device/cuda/fake/memory.hpp"
#include "tests/device/cuda/fake/objects.hpp"

namespace fake_cuda {
namespace {

constexpr std::size_t most_listed = 1'000'000;

struct planned_failure {
  std::string name;
  std::size_t left = 0;
  cudaError_t status = cudaSuccess;
};

struct lasting_failure {
  std::set<std::string, std::less<>> names;
  cudaError_t status = cudaSuccess;
};

/// What a test has set, and what it can ask for.
struct settings {
  int devices = 2;
  int driver = CUDART_VERSION;
  std::set<std::pair<int, int>> apart;  ///< devices, each with one whose memory it cannot access
  planned_failure failure;
  lasting_failure lasting;
  std::vector<const char*> listed;
  std::map<std::string, std::size_t, std::less<>> counts;
  std::size_t count = 0;
};

settings& control() {
  static settings* const only = new settings;
  return *only;
}

thread_local int device_of_thread = 0;
thread_local cudaError_t last_error = cudaSuccess;

/// What a device that has failed says to everything.
cudaError_t failure_of_current_device() {
  return the_machine().devices[device_of_thread].failure;
}

}  // namespace

int& current_device() noexcept {
  return device_of_thread;
}

int device_count() {
  return control().devices;
}

bool can_access_peer(int device, int peer) {
  return device != peer && !control().apart.contains({device, peer});
}

cudaError_t absence() {
  if (control().driver < CUDART_VERSION) return cudaErrorInsufficientDriver;
  return control().devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}

std::optional<cudaError_t> begin_call(const char* name, call_kind kind) {
  settings& c = control();
  ++c.count;
  ++c.counts[name];
  if (c.listed.size() < most_listed) c.listed.push_back(name);
  planned_failure& f = c.failure;
  if (f.left > 0 && f.name == name && --f.left == 0) return f.status;
  if (c.lasting.names.contains(std::string_view(name))) return c.lasting.status;
  if (in_host_function()) return cudaErrorNotPermitted;
  if (kind == call_kind::detached) return std::nullopt;
  if (const cudaError_t status = absence(); status != cudaSuccess) return status;
  the_machine().devices[device_of_thread].has_context = true;
  if (kind == call_kind::releasing) return std::nullopt;
  if (const cudaError_t status = failure_of_current_device(); status != cudaSuccess) return status;
  return std::nullopt;
}

cudaError_t end_call(cudaError_t status, call_kind kind) {
  const device_state& device = the_machine().devices[device_of_thread];
  if (kind != call_kind::detached && device.failure != cudaSuccess) status = device.failure;
  if (status != cudaSuccess) last_error = status;
  return status;
}

void reset() {
  locked lock(the_machine().mutex);
  machine& m = the_machine();
  for (int i = 0; i < machine::most_devices; ++i) {
    m.wait_for_device(lock, i);
    m.devices[i].failure = cudaSuccess;
    m.devices[i].has_context = false;
    m.devices[i].peers.clear();
  }
  const char* const seed = std::getenv("GRAPHLINE_FAKE_SEED");
  m.seed = seed == nullptr ? std::nullopt : std::optional(std::stoull(seed));
  m.enqueued = 0;
  m.clock_speed = 1;
  m.clock_tick = 1;
  objects() = {};
  release_all_memory();
  control() = {};
  m.clock_ahead = 0;
  m.busy_waits = 0;
  last_error = cudaSuccess;
}

live_objects live() {
  const locked lock(the_machine().mutex);
  live_objects all;
  all.streams = objects().streams.size();
  all.events = objects().events.size();
  all.graphs = objects().graphs.size();
  all.executables = objects().executables.size();
  all.device_allocations = count_device_blocks();
  all.pinned_allocations = count_pinned_blocks();
  return all;
}

bool has_context(int device) {
  const locked lock(the_machine().mutex);
  return the_machine().devices[device].has_context;
}

std::vector<std::string> calls(const std::string& name) {
  const locked lock(the_machine().mutex);
  std::vector<std::string> found;
  for (const char* called : control().listed) {
    if (name.empty() || name == called) found.emplace_back(called);
  }
  return found;
}

std::size_t call_count(const std::string& name) {
  const locked lock(the_machine().mutex);
  if (name.empty()) return control().count;
  const auto found = control().counts.find(name);
  return found == control().counts.end() ? 0 : found->second;
}

int events_to_sleep_on() {
  const locked lock(the_machine().mutex);
  int count = 0;
  for (const auto& e : objects().events) count += (e->flags & cudaEventBlockingSync) != 0 ? 1 : 0;
  return count;
}

std::size_t busy_waits() {
  const locked lock(the_machine().mutex);
  return the_machine().busy_waits;
}

std::size_t allocation_calls() {
  return call_count("cudaMalloc") + call_count("cudaHostAlloc");
}

void fail_call(const std::string& name, std::size_t n, cudaError_t status) {
  const locked lock(the_machine().mutex);
  control().failure = {name, n, status};
}

void fail_calls(const std::vector<std::string>& names, cudaError_t status) {
  const locked lock(the_machine().mutex);
  control().lasting = {{names.begin(), names.end()}, status};
}

void put_clocks_forward(std::int64_t nanoseconds) {
  const locked lock(the_machine().mutex);
  the_machine().clock_ahead += nanoseconds;
}

void set_clock_tick(std::int64_t nanoseconds) {
  const locked lock(the_machine().mutex);
  the_machine().clock_tick = nanoseconds;
}

void set_device_count(int count) {
  const locked lock(the_machine().mutex);
  control().devices = count;
}

void refuse_peer_access(int device, int peer) {
  const locked lock(the_machine().mutex);
  control().apart.insert({device, peer});
}

void set_driver_version(int version) {
  const locked lock(the_machine().mutex);
  control().driver = version;
}

void shuffle(std::uint64_t seed) {
  const locked lock(the_machine().mutex);
  the_machine().seed = seed;
}

std::optional<std::uint64_t> seed() {
  const locked lock(the_machine().mutex);
  return the_machine().seed;
}

void set_clock_speed(double speed) {
  const locked lock(the_machine().mutex);
  the_machine().clock_speed = speed;
}

}  // namespace fake_cuda

using namespace fake_cuda;

cudaError_t cudaGetLastError() {
  const locked lock(the_machine().mutex);
  const cudaError_t status = last_error;
  // What has broken the device stays.
  last_error = failure_of_current_device();
  return status;
}

cudaError_t cudaPeekAtLastError() {
  return last_error;
}

cudaError_t cudaDriverGetVersion(int* version) {
  return api("cudaDriverGetVersion", call_kind::detached, [&](locked&) {
    *version = control().driver;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return api("cudaRuntimeGetVersion", call_kind::detached, [&](locked&) {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}
