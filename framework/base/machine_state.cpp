#include "framework/base/machine_state.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "framework/base/machine.hpp"

namespace graphline {
namespace {

/// Reads a file of /proc or /sys. These files report no size.
std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Removes spaces and a number from the beginning of a text. Returns the number, if any.
template <class Number>
std::optional<Number> take(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return value;
}

}  // namespace

nanoseconds processor_time() {
  rusage used;
  ::getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& t) {
    return nanoseconds{t.tv_sec} * 1'000'000'000 + nanoseconds{t.tv_usec} * 1'000;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

nanoseconds thread_processor_time() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return nanoseconds{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::optional<core_times> parse_core_times(std::string_view proc_stat,
                                           const std::vector<int>& cores, long ticks_a_second) {
  // Columns in file order. Later columns hold guest time, which `user` and `nice` include.
  enum { user, nice, system, idle, waiting, interrupts, soft_interrupts, steal, columns };
  const nanoseconds tick = 1'000'000'000 / std::max(ticks_a_second, 1L);
  core_times sum;
  std::size_t found = 0;
  while (!proc_stat.empty()) {
    auto line = proc_stat.substr(0, proc_stat.find('\n'));
    proc_stat.remove_prefix(std::min(line.size() + 1, proc_stat.size()));
    if (!line.starts_with("cpu")) continue;
    line.remove_prefix(3);
    if (line.starts_with(' ')) continue;  // sum over all cores
    const auto core = take<int>(line);
    if (!core || std::ranges::find(cores, *core) == cores.end()) continue;
    std::array<std::int64_t, columns> ticks{};
    for (auto& value : ticks) value = take<std::int64_t>(line).value_or(0);
    sum.busy += tick * (ticks[user] + ticks[nice] + ticks[system] + ticks[interrupts] +
                        ticks[soft_interrupts]);
    sum.steal += tick * ticks[steal];
    ++found;
  }
  if (cores.empty() || found != cores.size()) return std::nullopt;
  return sum;
}

std::optional<double> parse_load_average(std::string_view proc_loadavg) {
  return take<double>(proc_loadavg);
}

std::optional<double> parse_cpu_clock(std::string_view kilohertz) {
  const auto value = take<double>(kilohertz);
  return value && *value > 0 ? std::optional(*value / 1000) : std::nullopt;
}

machine_state read_machine_state() {
  const auto cores = affinity_cpus();
  const std::string here = std::to_string(std::max(0, ::sched_getcpu()));
  machine_state state;
  state.cores = static_cast<int>(cores.size());
  state.load = parse_load_average(text_of("/proc/loadavg"));
  state.clock =
      parse_cpu_clock(text_of("/sys/devices/system/cpu/cpu" + here + "/cpufreq/scaling_cur_freq"));
  state.used = parse_core_times(text_of("/proc/stat"), cores, ::sysconf(_SC_CLK_TCK));
  state.throttled = read_cgroup_throttling();
  state.own = processor_time();
  state.at = now();
  return state;
}

}  // namespace graphline
