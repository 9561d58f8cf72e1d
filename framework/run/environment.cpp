#include "framework/run/environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "framework/base/machine.hpp"
#include "framework/base/version.hpp"
#include "framework/run/task_pool.hpp"

namespace graphline {
namespace {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string utc_date() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string operating_system() {
  utsname name{};
  if (::uname(&name) != 0) return "unknown";
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_environment() {
  // Once: the kernel takes longer for this the more cores there are.
  static const std::string processor_name = processor();
  return {{"graphline", std::string(version())},
          {"date", utc_date()},
          {"system", operating_system()},
          {"processor", processor_name},
          {"cores", std::to_string(usable_cores())},
          {"compiler", __VERSION__},
          {"oneTBB", onetbb_version()}};
}

}  // namespace graphline
