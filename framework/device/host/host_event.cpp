#include "framework/device/host/host_event.hpp"

#include <fmt/format.h>
#include <sched.h>

#include "framework/base/error.hpp"
#include "framework/device/host/host_engine.hpp"

namespace graphline {

host_event::~host_event() {
  engine_.lanes.wait(latest(), wait_mode::block);
  // Rarely true: an earlier recording, on another stream, may pass after the latest one.
  while (unstamped_.load(std::memory_order_acquire) != 0) ::sched_yield();
}

bool host_event::done() const {
  refuse_if_captured();
  const bool passed = engine_.lanes.pending(latest()).on == nullptr;
  engine_.failed.throw_if_set();
  return passed;
}

void host_event::wait(wait_mode how) const {
  refuse_if_captured();
  engine_.lanes.wait(latest(), how);
  engine_.failed.throw_if_set();
}

nanoseconds host_event::since(const timed_event& earlier) const {
  const auto& from = same_engine<host_event>(earlier, engine_);
  refuse_untimed();
  from.refuse_untimed();
  return stamp_.load(std::memory_order_relaxed) - from.stamp_.load(std::memory_order_relaxed);
}

host_point host_event::on_host_clock() const {
  refuse_untimed();
  return {stamp_.load(std::memory_order_relaxed), 0};
}

std::optional<nanoseconds> host_event::busy_since(const timed_event& earlier) const {
  const auto& from = same_engine<host_event>(earlier, engine_);
  refuse_untimed();
  from.refuse_untimed();
  return busy_.load(std::memory_order_relaxed) - from.busy_.load(std::memory_order_relaxed);
}

void host_event::refuse_if_captured() const {
  if (latest().is_in_capture()) {
    throw run_error(
        fmt::format("event '{}' was last recorded in a capture, where nothing passes it; record it "
                    "on a stream before waiting for it",
                    name_));
  }
}

void host_event::refuse_untimed() const {
  if (!keeps_time_) {
    throw run_error(fmt::format("event '{}' keeps no time; make a timed event", name_));
  }
  const recording r = latest();
  // Who asks has seen a launch complete, and with it everything that the worker stored before.
  if (!stamped_in_graph_.load(std::memory_order_relaxed)) {
    refuse_if_captured();
    if (r.is_never()) throw run_error(fmt::format("event '{}' was never recorded", name_));
  }
  if (engine_.lanes.pending(r).on != nullptr) {
    throw run_error(fmt::format("event '{}' has not passed yet; wait for it first", name_));
  }
}

}  // namespace graphline
