#include "framework/base/realtime.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

namespace graphline {

scoped_realtime::scoped_realtime(std::int64_t priority) noexcept {
  if (priority == 0) return;
  scheduling before{::sched_getscheduler(0), {}};
  ::sched_getparam(0, &before.parameters);
  ::sched_param wanted{};
  wanted.sched_priority = static_cast<int>(priority);
  // Threads that libraries create meanwhile may outlive this object.
  refused_ = ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) != 0;
  if (!refused_) before_ = before;
}

scoped_realtime::~scoped_realtime() {
  if (!before_) return;
  const auto [policy, parameters] = *before_;
  if (::sched_setscheduler(0, policy, &parameters) == 0) return;
  // Without CAP_SYS_NICE, a thread cannot clear the flag.
  static_cast<void>(::sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &parameters));
}

std::string realtime_refusal(std::int64_t priority) {
  ::rlimit limit{};
  ::getrlimit(RLIMIT_RTPRIO, &limit);
  return fmt::format(
      "realtime: {} is not permitted: the system refuses the class SCHED_FIFO with this priority, "
      "and the limit is {} (ulimit -r); raise 'rtprio' in /etc/security/limits.conf, grant "
      "CAP_SYS_NICE (in a container: --cap-add SYS_NICE), or omit realtime",
      priority, limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur));
}

}  // namespace graphline
