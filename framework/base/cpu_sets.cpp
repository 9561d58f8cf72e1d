#include "framework/base/cpu_sets.hpp"

#include <sched.h>

#include "framework/base/machine.hpp"

namespace graphline {
namespace {

cpu_set current_cpus() {
  cpu_set result;
  ::cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return result;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) result.push_back(cpu);
  }
  return result;
}

void keep_to(const ::cpu_set_t& cpus) noexcept {
  static_cast<void>(::sched_setaffinity(0, sizeof cpus, &cpus));
}

}  // namespace

cpu_split split_cpus(const cpu_set& usable, int compute_threads) {
  constexpr std::size_t few = 4;
  const auto computing = static_cast<std::size_t>(compute_threads);
  if (usable.size() > few || usable.size() <= computing) return {};
  const auto first = usable.end() - compute_threads;
  return {{first, usable.end()}, {usable.begin(), first}};
}

cpu_set usable_cpus() {
  auto cpus = current_cpus();
  if (static_cast<int>(cpus.size()) != usable_cores()) cpus.clear();
  return cpus;
}

kept_to_cpus::kept_to_cpus(const cpu_set& cpus) noexcept {
  if (cpus.empty()) return;
  ::cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) before_ = set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  keep_to(set);
}

kept_to_cpus::~kept_to_cpus() {
  if (before_) keep_to(*before_);
}

}  // namespace graphline
