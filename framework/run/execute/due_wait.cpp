#include "framework/run/execute/due_wait.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <ctime>

namespace graphline {

due_wait::due_wait(wait_mode how) noexcept : how_(how) {
  if (how_ != wait_mode::block) return;
  // The system puts off a wake-up by this, usually 50 us, to serve several with one.
  slack_ = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  if (slack_ >= 0) ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

due_wait::~due_wait() {
  if (slack_ >= 0) ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_), 0, 0, 0);
}

void due_wait::pause(nanoseconds at) const noexcept {
  switch (how_) {
    case wait_mode::spin:
      return;
    case wait_mode::yield:
      ::sched_yield();
      return;
    case wait_mode::block: {
      const timespec moment{static_cast<std::time_t>(at / 1'000'000'000),
                            static_cast<long>(at % 1'000'000'000)};
      // A signal ends it early: whoever sent it may have asked for a stop.
      ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
      return;
    }
  }
}

}  // namespace graphline
