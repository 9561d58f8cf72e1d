#include "framework/device/host/host_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

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

/// A line of /proc/meminfo in bytes; no limit when it cannot be read.
std::uint64_t meminfo_bytes(std::string_view key) {
  const std::string kib = value_in("/proc/meminfo", key);
  if (kib.empty()) return std::numeric_limits<std::int64_t>::max();
  return std::strtoull(kib.c_str(), nullptr, 10) * 1024;
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

int available_cores() noexcept {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::uint64_t available_memory() {
  return meminfo_bytes("MemAvailable");
}

int default_compute_threads() noexcept {
  return std::max(1, available_cores() / 2);
}

device_properties host_properties(int compute_threads) {
  const int cores = available_cores();
  device_properties p;
  p.backend = "host";
  p.name = value_in("/proc/cpuinfo", "model name");
  if (p.name.empty()) p.name = "CPU";
  p.memory_bytes = meminfo_bytes("MemTotal");
  p.compute_threads = compute_threads;
  p.priority_levels = 3;
  p.details = {{"cores", std::to_string(cores)},
               {"vector instructions", std::string(vector_instructions())}};
  if (compute_threads > cores) {
    p.details.emplace_back(
        "warning", fmt::format("{} compute threads share {} cores and will hold each other up",
                               compute_threads, cores));
  }
  return p;
}

}  // namespace graphline
