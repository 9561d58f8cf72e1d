#include "framework/device/host/host_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "framework/base/cgroup_limits.hpp"
#include "framework/base/machine.hpp"

namespace graphline {
namespace {

/// The text after "KEY:" in a file of such lines, without surrounding blanks; empty when not there.
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

/// The widest vector instructions that the processor has, as oneDNN would name them.
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

}  // namespace

int default_compute_threads() {
  return std::max(1, usable_cores() / 2);
}

device_properties host_properties(int compute_threads) {
  const int cores = usable_cores();
  device_properties p;
  p.backend = "host";
  p.name = value_in("/proc/cpuinfo", "model name");
  if (p.name.empty()) p.name = "CPU";
  p.memory_bytes = memory_in_all();
  p.compute_threads = compute_threads;
  p.priority_levels = 3;
  p.one_at_a_time = true;
  p.tells_busy_time = true;
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

}  // namespace graphline
