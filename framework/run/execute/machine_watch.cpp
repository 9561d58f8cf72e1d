#include "framework/run/execute/machine_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace graphline {
namespace {

std::string line_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

}  // namespace

bool parse_schedstat(std::string_view text, thread_time& into) {
  const char* const end = text.data() + text.size();
  const auto on_cpu = std::from_chars(text.data(), end, into.on_cpu);
  if (on_cpu.ec != std::errc() || on_cpu.ptr == end || *on_cpu.ptr != ' ') return false;
  const auto waited = std::from_chars(on_cpu.ptr + 1, end, into.waited);
  return waited.ec == std::errc() && into.on_cpu >= 0 && into.waited >= 0;
}

thread_clocks read_thread_clocks() {
  thread_clocks result;
  std::error_code none;  // a thread may end meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    int number = 0;
    const std::string name = task.path().filename();
    std::from_chars(name.data(), name.data() + name.size(), number);
    thread_time clock;
    if (!parse_schedstat(line_of(task.path() / "schedstat"), clock)) continue;
    clock.thread = number == ::getpid() ? "main" : line_of(task.path() / "comm");
    result.emplace(number, std::move(clock));
  }
  return result;
}

std::vector<thread_time> between(const thread_clocks& before, const thread_clocks& after) {
  std::vector<thread_time> result;
  for (const auto& [number, later] : after) {
    thread_time spent = later;
    if (const auto earlier = before.find(number); earlier != before.end()) {
      spent.on_cpu -= earlier->second.on_cpu;
      spent.waited -= earlier->second.waited;
    }
    if (spent.on_cpu <= 0 && spent.waited <= 0) continue;
    const auto known = std::ranges::find(result, spent.thread, &thread_time::thread);
    if (known == result.end()) {
      result.push_back(std::move(spent));
    } else {
      known->on_cpu += spent.on_cpu;
      known->waited += spent.waited;
    }
  }
  return result;
}

machine_watch::machine_watch(device& d, look at_machine)
    : device_(d),
      look_(std::move(at_machine)),
      device_before_(d.state()),
      before_(look_()),
      threads_before_(read_thread_clocks()) {}

conditions_record machine_watch::end() {
  const auto threads = read_thread_clocks();
  auto conditions = conditions_between(before_, look_());
  conditions.threads = between(threads_before_, threads);
  conditions.device_before = device_before_;
  conditions.device_after = device_.state();
  return conditions;
}

conditions_record conditions_between(const machine_state& before, const machine_state& after) {
  conditions_record result;
  result.lasted = after.at - before.at;
  result.cores = after.cores;
  result.load_before = before.load;
  result.load_after = after.load;
  result.clock_before = before.clock;
  result.clock_after = after.clock;
  // Whoever changed the affinity of this process changed what the sums are of.
  if (!before.used || !after.used || before.cores != after.cores) return result;
  result.steal = after.used->steal - before.used->steal;
  const nanoseconds busy = after.used->busy - before.used->busy;
  // The system counts in ticks, the process's own time is exact.
  result.others = std::max<nanoseconds>(0, busy - (after.own - before.own));
  return result;
}

}  // namespace graphline
