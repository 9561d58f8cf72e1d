// Measures on a GPU what documentation leaves open: one probe per process, so that a crash or hang
// loses no other facts. Prints each fact as a line of JSON. Exit status: 0 done; 1 the probe
// failed; 2 there is no such probe.

#include <fmt/format.h>

#include <array>
#include <exception>
#include <string_view>

#include "tests/bench/gpu_probe/probe.hpp"

namespace {

struct probe {
  std::string_view name;
  std::string_view what;
  void (*run)();
};

constexpr std::array probes = {
    probe{"libraries", "cuDNN, cuBLASLt, NVRTC and CUPTI, or what to install",
          gpu_probe::probe_libraries},
    probe{"ticks", "steps of event stamps and of %globaltimer", gpu_probe::probe_ticks},
    probe{"drift", "the device's clock against the host's", gpu_probe::probe_drift},
    probe{"record_nodes", "record nodes mixed with records", gpu_probe::probe_record_nodes},
    probe{"negative_times", "elapsed times backwards", gpu_probe::probe_negative_times},
    probe{"disturbed_capture", "captures beside another thread's calls",
          gpu_probe::probe_disturbed_capture},
    probe{"host_functions", "host functions against streams and branches",
          gpu_probe::probe_host_functions},
    probe{"callback_stack", "the stack of a host function", gpu_probe::probe_callback_stack},
    probe{"switches", "the time of a switch in a graph", gpu_probe::probe_switches},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  for (const probe& each : probes) {
    if (each.name != wanted) continue;
    try {
      each.run();
      return 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "gpu_probe {}: {}\n", wanted, error.what());
      return 1;
    }
  }
  fmt::print(stderr, "usage: gpu_probe PROBE\n\n");
  for (const probe& each : probes) fmt::print(stderr, "  {:18}  {}\n", each.name, each.what);
  return 2;
}
