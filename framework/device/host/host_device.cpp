#include "framework/device/host/host_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/host/host_graph.hpp"
#include "framework/device/host/host_stream.hpp"
#include "framework/device/host/host_worker.hpp"
#include "framework/device/machine_memory.hpp"

namespace graphline {
namespace {

/// Returns the trimmed value of a "KEY: VALUE" line in a file; empty if missing.
std::string value_in(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

/// Returns the processor's widest vector instructions, by oneDNN's name.
std::string_view vector_instructions() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
  if (__builtin_cpu_supports("sse4.1")) return "SSE4.1";
  return "SSE2";
#elif defined(__aarch64__)
  return "NEON";
#else
  return "unknown";
#endif
}

/// Returns half the cores, at least one. The others are for CPU stages.
int default_compute_threads() {
  return std::max(1, usable_cores() / 2);
}

device_properties host_properties(int compute_threads) {
  const int cores = usable_cores();
  device_properties p;
  p.backend = "host";
  p.name = value_in("/proc/cpuinfo", "model name");
  if (p.name.empty()) p.name = "CPU";
  p.memory_bytes = total_memory();
  p.compute_threads = compute_threads;
  p.priority_levels = 3;
  p.one_at_a_time = true;
  p.reports_busy_time = true;
  p.selects = true;
  p.details = {{"cores", std::to_string(cores)},
               {"vector instructions", std::string(vector_instructions())}};
  if (const auto limit = read_cgroup_limits().cpus) {
    p.details.emplace_back("CPU limit", fmt::format("{:.4g}", *limit));
  }
  if (compute_threads > cores) {
    p.details.emplace_back(
        "warning", fmt::format("{} compute threads share {} cores and will hold each other up",
                               compute_threads, cores));
  }
  return p;
}

class host_device final : public host_runner {
 public:
  host_device(int compute_threads, const cpu_set& taken)
      : host_device(compute_threads, split_cpus(usable_cpus(), compute_threads, taken)) {}

  const device_properties& properties() const noexcept override { return properties_; }

  memory allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  memory allocate_pinned(std::size_t bytes) override { return memory_.allocate_pinned(bytes); }
  memory_usage usage() const noexcept override { return memory_.usage(); }

  std::unique_ptr<stream> make_stream(std::string name, priority level) override {
    return std::make_unique<host_stream>(engine_, std::move(name), level);
  }

  std::unique_ptr<event> make_event(std::string name, wait_mode /*how*/) override {
    return std::make_unique<host_event>(engine_, std::move(name), false);
  }

  std::unique_ptr<timed_event> make_timed_event(std::string name) override {
    return std::make_unique<host_event>(engine_, std::move(name), true);
  }

  std::unique_ptr<graph> capture(stream& origin, const std::function<void()>& body) override {
    engine_.failed.throw_if_set();
    host_capture capture(engine_.captures, same_engine<host_stream>(origin, engine_));
    body();
    return std::make_unique<replayed_graph<host_engine, host_graph_exec, host_captured>>(
        engine_, capture.finish());
  }

  void synchronize(wait_mode how) override {
    engine_.captures.refuse_synchronize();
    engine_.lanes.wait_for_all(how);
    engine_.failed.throw_if_set();
  }

  void exchange_with(device& peer) override {
    if (typeid(peer) != typeid(host_device)) device::exchange_with(peer);
  }

  clock_check check_clock() override { return {.at = now()}; }  // the device's clock is the host's

  std::unique_ptr<operation_trace> trace_operations() override { return engine_.log.trace(); }

  void call(const std::function<void()>& work) override { engine_.worker.call(work); }

 private:
  host_device(int compute_threads, const cpu_split& cpus)
      : properties_(host_properties(compute_threads)), engine_(compute_threads, cpus) {
    properties_.host_cpus = cpus.others;
  }

  device_properties properties_;
  machine_memory memory_{"host"};
  host_engine engine_;
};

/// Starts and joins as many threads as the device needs. Throws `run_error` if one does not start;
/// libgomp would end the program instead.
void try_threads(int compute_threads) {
  constexpr int own = 2;  // the worker and the caller of host functions
  struct release {
    ~release() { all.set_value(); }
    std::promise<void>& all;
  };
  std::promise<void> tried;
  const std::shared_future<void> end(tried.get_future());
  std::vector<std::jthread> threads;
  const release before_they_are_joined{tried};
  try {
    for (int i = 0; i < compute_threads + own; ++i) threads.emplace_back([end] { end.wait(); });
  } catch (const std::system_error& problem) {
    throw run_error(fmt::format(
        "the host device cannot start its threads ({} to compute): {}; lower 'threads', "
        "or raise the limit on threads",
        compute_threads, problem.code().message()));
  }
}

std::vector<device_properties> list_host(std::string& /*reason*/) {
  return {host_properties(default_compute_threads())};
}

std::unique_ptr<device> open_host(int /*index*/, const device_request& request) {
  return open_host_device(
      request.host_threads == 0 ? default_compute_threads() : request.host_threads, request.taken);
}

}  // namespace

std::unique_ptr<device> open_host_device(int compute_threads, const cpu_set& taken) {
  constexpr int most = 1024;
  if (compute_threads < 1 || compute_threads > most) {
    throw input_error(fmt::format("the host device needs 1 to {} compute threads, not {}", most,
                                  compute_threads));
  }
  try_threads(compute_threads);
  auto opened = std::make_unique<host_device>(compute_threads, taken);
  opened->call([] {});  // waits for its threads to start
  return opened;
}

void host_enqueue(stream& s, host_operation& operation) {
  if (typeid(s) != typeid(host_stream)) {
    throw run_error(
        fmt::format("operation '{}' is for the host device; stream '{}' belongs to another device",
                    operation.name(), s.name()));
  }
  static_cast<host_queue&>(s).enqueue(operation);
}

void host_call(device& d, const std::function<void()>& work) {
  // dynamic_cast instead of typeid, because each library has its own host_device.
  auto* const runner = dynamic_cast<host_runner*>(&d);
  if (runner == nullptr) {
    throw run_error(
        fmt::format("'{}' is not a host device and cannot run host code", d.properties().backend));
  }
  runner->call(work);
}

backend host_backend() {
  return {"host", &list_host, &open_host};
}

}  // namespace graphline
