#include "framework/device/host/lane.hpp"

#include <sched.h>

#include "framework/base/pause.hpp"

namespace graphline {

ticket lane::reserve() noexcept {
  const ticket next = submitted_.load(std::memory_order_relaxed) + 1;
  if (next > known_completed_ + capacity) {
    const ticket freed_by = next - capacity;
    // While operations are short a slot is free again before a sleep would have begun.
    constexpr int polls = 1000;
    for (int i = 0; i < polls && !passed(freed_by); ++i) pause_briefly();
    wait(freed_by, wait_mode::block);
    known_completed_ = completed_.load(std::memory_order_acquire);
  }
  return next;
}

void lane::wait(ticket t, wait_mode how) const noexcept {
  switch (how) {
    case wait_mode::spin:
      while (!passed(t)) pause_briefly();
      return;
    case wait_mode::yield:
      while (!passed(t)) ::sched_yield();
      return;
    case wait_mode::block:
      if (!passed(t)) sleep_until(t);
      return;
  }
}

// No wake-up is lost: the sleeper lowers `wake_at_` and then reads `completed_`, the worker writes
// `completed_` and then reads `wake_at_`, all in one total order, so one of them sees the other. A
// sleeper whose registration `wake` takes away had read `wakes_` before, and finds it changed.
void lane::sleep_until(ticket t) const noexcept {
  for (;;) {
    const std::uint32_t seen = wakes_.load(std::memory_order_seq_cst);
    ticket at = wake_at_.load(std::memory_order_seq_cst);
    while (t < at && !wake_at_.compare_exchange_weak(at, t, std::memory_order_seq_cst)) {
    }
    if (completed_.load(std::memory_order_seq_cst) >= t) return;
    wakes_.wait(seen, std::memory_order_seq_cst);
    if (passed(t)) return;
  }
}

void lane::wake() noexcept {
  wake_at_.store(nobody, std::memory_order_seq_cst);
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  wakes_.notify_all();
}

}  // namespace graphline
