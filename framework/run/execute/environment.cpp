#include "framework/run/execute/environment.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>

#include "framework/base/machine.hpp"
#include "framework/base/version.hpp"
#include "framework/run/execute/task_pool.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

/// Returns the value of the first matching line of /proc/cpuinfo; empty if none matches.
std::string first_in_cpuinfo(std::string_view name) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with(name)) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

/// Returns the frequency governor of the first core; empty if the system has none.
std::string governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string word;
  file >> word;
  return word;
}

/// Returns the scheduling class of the calling thread: "SCHED_OTHER, nice 0" or "SCHED_FIFO,
/// priority 50". Child threads inherit this class.
std::string scheduling() {
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  constexpr std::pair<int, std::string_view> names[] = {
      {SCHED_OTHER, "SCHED_OTHER"}, {SCHED_BATCH, "SCHED_BATCH"}, {SCHED_IDLE, "SCHED_IDLE"},
      {SCHED_FIFO, "SCHED_FIFO"},   {SCHED_RR, "SCHED_RR"},       {6, "SCHED_DEADLINE"}};
  const auto* name =
      std::ranges::find(names, policy, [](const auto& known) { return known.first; });
  if (name == std::end(names)) return {};
  ::sched_param parameters{};
  if (::sched_getparam(0, &parameters) == 0 && parameters.sched_priority > 0) {
    return fmt::format("{}, priority {}", name->second, parameters.sched_priority);
  }
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return std::string(name->second);
  return fmt::format("{}, nice {}", name->second, nice);
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

/// Returns the values that stay constant while the program runs.
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
  // Omitted if a governor varies the clock, because one reading would mislead.
  if (const auto clock = first_in_cpuinfo("cpu MHz"); set_by.empty() && !clock.empty()) {
    add("CPU clock", clock + " MHz");
  }
  return known;
}

}  // namespace

named_values describe_environment() {
  // Read once, because reading takes long on machines with many cores.
  static const named_values fixed = fixed_part();
  named_values all = {{"graphline", std::string(version())}, {"date", utc_date()}};
  all.insert(all.end(), fixed.begin(), fixed.end());
  all.emplace_back("cores", std::to_string(usable_cores()));
  const auto add_known = [&](const char* name, std::string text) {
    if (!text.empty()) all.emplace_back(name, std::move(text));
  };
  add_known("CPU affinity", in_ranges(affinity_cpus()));
  add_known("scheduling", scheduling());
  all.emplace_back("compiler", __VERSION__);
  all.emplace_back("oneTBB", onetbb_version());
  return all;
}

int cores_for_cpu_stages(const plan& p, int compute_threads) {
  if (p.run.workers > 0 && has_workers(p.run)) return static_cast<int>(p.run.workers);
  const bool device_stages = std::ranges::any_of(
      p.stages, [](const planned_stage& stage) { return stage.on == side::device; });
  return std::max(1, usable_cores() - (device_stages ? compute_threads : 0));
}

run_record begin_record(const plan& p, const std::vector<device_properties>& on) {
  run_record record;
  record.pipeline = p.pipeline;
  record.description = p.description;
  if (p.source) record.source = {p.source->name(), p.source->text()};
  record.parameters = p.parameters;
  record.files = p.files;
  record.run = p.run;
  if (p.policy.kind != nullptr) record.policy.emplace().order = p.policy.kind->order;
  record.device = on.front();
  for (std::size_t d = 0; d < p.devices.size() && !p.devices[d].name.empty(); ++d) {
    record.devices.push_back({p.devices[d].name, on.at(d)});
  }
  int compute_threads = 0;
  for (const device_properties& each : on) compute_threads += each.compute_threads;
  record.cpu_cores = cores_for_cpu_stages(p, compute_threads);
  record.environment = describe_environment();
  for (const auto& t : p.tensors) {
    const auto writer = t.input ? std::nullopt : std::optional(t.producer);
    record.tensors.push_back({t.name, t.type, t.on, writer, t.consumers});
  }
  return record;
}

}  // namespace graphline
