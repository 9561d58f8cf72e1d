#include "framework/device/host/host_stream.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <typeinfo>

#include "framework/base/error.hpp"
#include "framework/device/host/host_graph.hpp"
#include "framework/device/host/host_worker.hpp"

namespace graphline {

host_event::~host_event() {
  engine_.lanes.wait(latest(), wait_mode::block);
  // In rare cases an earlier recording on another stream completes after the latest one.
  while (unstamped_.load(std::memory_order_acquire) != 0) ::sched_yield();
}

bool host_event::done() const {
  refuse_if_captured(*this);
  const bool passed = engine_.lanes.pending(latest()).on == nullptr;
  engine_.failed.throw_if_set();
  return passed;
}

void host_event::wait(wait_mode how) const {
  refuse_if_captured(*this);
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

void host_event::refuse_untimed() const {
  if (!keeps_time_) {
    throw run_error(fmt::format("event '{}' keeps no time; make a timed event", name_));
  }
  const recorded_point r = latest();
  // Relaxed, because the caller has seen a launch complete, which orders the worker's stores.
  if (!stamped_in_graph_.load(std::memory_order_relaxed)) {
    refuse_if_captured(*this);
    if (r.is_never()) throw run_error(fmt::format("event '{}' was never recorded", name_));
  }
  if (engine_.lanes.pending(r).on != nullptr) {
    throw run_error(fmt::format("event '{}' has not passed yet; wait for it first", name_));
  }
}

host_stream::host_stream(host_engine& engine, std::string name, priority level)
    : engine_(engine), name_(std::move(name)), lane_(engine.lanes.acquire(level)) {}

host_stream::~host_stream() {
  lane_.wait(lane_.submitted(), wait_mode::block);
  engine_.lanes.release(lane_);
}

void host_stream::enqueue(host_operation& operation) {
  submit_or_capture(operate_command{&operation}, "operation");
}

void host_stream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  submit_or_capture(copy_command{to, from, bytes}, "copy");
}

void host_stream::fill(void* to, std::byte value, std::size_t bytes) {
  if (bytes == 0) return;
  submit_or_capture(fill_command{to, bytes, value}, "fill");
}

void host_stream::record(event& e) {
  host_event& ours = same_engine<host_event>(e, engine_);
  if (capture_ != nullptr) return capture_->record(*this, ours);
  // First, because the worker compares the event's latest recording with this one.
  ours.recorded(recorded_point::at(lane_.id(), lane_.reserve()));
  publish(record_command{ours.keeps_time() ? &ours : nullptr});
}

void host_stream::wait(const event& e) {
  if (typeid(e) == typeid(host_event)) {
    const auto& theirs = static_cast<const host_event&>(e);
    if (&theirs.engine() != &engine_) return wait_for_peer(theirs);
  }
  const host_event& ours = same_engine<host_event>(e, engine_);
  const recorded_point r = ours.latest();
  if (r.is_never()) return;
  if (host_capture* const capture = capture_of_wait(engine_.captures, *this, ours)) {
    return capture->wait(*this, ours);
  }
  const lane_wait after = engine_.lanes.pending(r);
  if (after.on == nullptr || after.on == &lane_) return;  // complete, or in stream order
  submit(wait_command{after});
}

void host_stream::wait_for_peer(const host_event& e) {
  refuse_captured_peer(*this, e);
  const lane_wait after = e.engine().lanes.pending(e.latest());
  if (after.on == nullptr) return engine_.failed.set_from(e.engine().failed);
  host_worker::expect_peer();
  submit(wait_command{after, &e.engine().failed});
}

void host_stream::call(host_function& f) {
  engine_.worker.prepare_calls();
  submit_or_capture(call_command{&f}, "call");
}

void host_stream::stamp(timed_event& e) {
  if (capture_ == nullptr) return record(e);
  capture_->add(*this, stamp_command{&same_engine<host_event>(e, engine_)}, "stamp");
}

void host_stream::select(const std::uint32_t* selector,
                         std::span<const std::function<void()>> bodies) {
  if (capture_ == nullptr) refuse_select_outside_capture(name_);
  capture_->select(*this, selector, bodies);
}

void host_stream::launch(graph_exec& g) {
  host_graph_exec& ours = same_engine<host_graph_exec>(g, engine_);
  if (capture_ != nullptr) refuse_launch_in_capture(name_);
  const recorded_point before = ours.launched(recorded_point::at(lane_.id(), lane_.reserve()));
  lane_wait after = engine_.lanes.pending(before);
  if (after.on == &lane_) after = {};
  publish(ours.launch_after(after));
}

void host_stream::submit_or_capture(const command& c, const char* type) {
  if (capture_ != nullptr) return capture_->add(*this, c, type);
  submit(c);
}

void host_stream::submit(const command& c) noexcept {
  lane_.reserve();
  publish(c);
}

void host_stream::publish(const command& c) noexcept {
  lane_.publish(c);
  engine_.worker.notice();
}

}  // namespace graphline
