#include "framework/run/execute/environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string_view>

#include "framework/base/machine.hpp"
#include "framework/base/version.hpp"
#include "framework/run/execute/task_pool.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

/// The value of the first line of /proc/cpuinfo with a name; empty where there is none.
std::string first_in_cpuinfo(std::string_view name) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with(name)) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

/// How the system sets the clock of the first core; empty where it does not, as in most virtual
/// machines.
std::string governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string word;
  file >> word;
  return word;
}

std::string utc_date() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

using named_values = std::vector<std::pair<std::string, std::string>>;

/// What stays the same while the program runs.
named_values fixed_part() {
  named_values known;
  const auto add = [&](const char* name, std::string text) {
    if (!text.empty()) known.emplace_back(name, std::move(text));
  };
  utsname system{};
  const bool told = ::uname(&system) == 0;
  add("build", std::string(build_type()));
  add("commit", std::string(commit()));
  add("host name", told ? system.nodename : "");
  add("system",
      told ? fmt::format("{} {} {}", system.sysname, system.release, system.machine) : "unknown");
  const auto processor = first_in_cpuinfo("model name");
  add("processor", processor.empty() ? "unknown" : processor);
  const auto set_by = governor();
  add("CPU governor", set_by);
  // Where a governor sets it, it is another one at each moment.
  if (const auto clock = first_in_cpuinfo("cpu MHz"); set_by.empty() && !clock.empty()) {
    add("CPU clock", clock + " MHz");
  }
  return known;
}

}  // namespace

named_values describe_environment() {
  // Once: the kernel takes longer for this the more cores there are.
  static const named_values fixed = fixed_part();
  named_values all = {{"graphline", std::string(version())}, {"date", utc_date()}};
  all.insert(all.end(), fixed.begin(), fixed.end());
  all.emplace_back("cores", std::to_string(usable_cores()));
  all.emplace_back("compiler", __VERSION__);
  all.emplace_back("oneTBB", onetbb_version());
  return all;
}

int cores_for_cpu_stages(const plan& p, const device_properties& on) {
  if (p.run.workers > 0 && has_workers(p.run)) return static_cast<int>(p.run.workers);
  const bool device_stages = std::ranges::any_of(
      p.stages, [](const planned_stage& stage) { return stage.on == side::device; });
  return std::max(1, usable_cores() - (device_stages ? on.compute_threads : 0));
}

}  // namespace graphline
