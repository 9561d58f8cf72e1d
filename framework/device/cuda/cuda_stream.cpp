#include "framework/device/cuda/cuda_stream.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>

#include "framework/base/clock.hpp"
#include "framework/device/cuda/cuda_capture.hpp"
#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_graph.hpp"

namespace graphline {

cuda_event::cuda_event(cuda_engine& engine, std::string name, unsigned flags)
    : engine_(engine), name_(std::move(name)), keeps_time_((flags & cudaEventDisableTiming) == 0) {
  const cuda_subject subject{"event", name_};
  engine_.require_current(subject);
  engine_.check(cudaEventCreateWithFlags(&handle_, flags), "cudaEventCreateWithFlags", subject);
}

cuda_event::~cuda_event() {
  engine_.make_current();
  static_cast<void>(cudaEventDestroy(handle_));
}

bool cuda_event::done() const {
  refuse_if_captured(*this);
  engine_.failed.throw_if_set();
  engine_.make_current();
  const cudaError_t status = cudaEventQuery(handle_);
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // clears it, so that the next launch does not report it
    engine_.check_peers_while_polling();
    return false;
  }
  engine_.check(status, "cudaEventQuery", {"event", name_});
  engine_.check_peers();
  return true;
}

void cuda_event::wait(wait_mode how) const {
  if (how == wait_mode::block) {
    refuse_if_captured(*this);
    engine_.failed.throw_if_set();
    engine_.check_peers();
    engine_.make_current();
    engine_.check(cudaEventSynchronize(handle_), "cudaEventSynchronize", {"event", name_});
    engine_.check_peers();
    return;
  }
  // Pauses between queries, because a query takes a driver lock that launches need.
  constexpr int most_pauses = 16;
  int pauses = 1;
  while (!done()) {
    if (how == wait_mode::yield) ::sched_yield();
    for (int i = 0; i < pauses; ++i) pause_briefly();
    pauses = std::min(2 * pauses, most_pauses);
  }
}

nanoseconds cuda_event::since(const timed_event& earlier) const {
  const auto& from = same_engine<cuda_event>(earlier, engine_);
  refuse_without_time();
  from.refuse_without_time();
  return engine_.clock.elapsed(from.handle_, from.name_, handle_, name_);
}

host_point cuda_event::on_host_clock() const {
  refuse_without_time();
  return engine_.clock.on_host_clock(handle_, name_);
}

void cuda_event::refuse_without_time() const {
  if (!keeps_time_) {
    throw run_error(fmt::format("event '{}' keeps no time; make a timed event", name_));
  }
  refuse_if_captured(*this);
  if (!was_recorded()) throw run_error(fmt::format("event '{}' was never recorded", name_));
}

/// Serializes host functions of different streams, which CUDA may run concurrently.
void call_host_function(void* function) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  static_cast<host_function*>(function)->call();
}

cuda_stream::cuda_stream(cuda_engine& engine, std::string name, priority level)
    : engine_(engine), name_(std::move(name)), urgency_(engine.stream_priority(level)) {
  const cuda_subject subject{"stream", name_};
  engine_.require_current(subject);
  engine_.check(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking, urgency_),
                "cudaStreamCreateWithPriority", subject);
}

cuda_stream::~cuda_stream() {
  engine_.make_current();
  static_cast<void>(cudaStreamDestroy(handle_));
}

void cuda_stream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  engine_.make_current();
  check_enqueued(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, handle_), "cudaMemcpyAsync");
}

void cuda_stream::fill(void* to, std::byte value, std::size_t bytes) {
  if (bytes == 0) return;
  engine_.make_current();
  check_enqueued(cudaMemsetAsync(to, std::to_integer<int>(value), bytes, handle_),
                 "cudaMemsetAsync");
}

void cuda_stream::record(event& e) {
  auto& ours = same_engine<cuda_event>(e, engine_);
  if (capture_ != nullptr) capture_->refuse_in_body("recording");
  engine_.make_current();
  engine_.check_enqueued(cudaEventRecord(ours.handle(), handle_), "cudaEventRecord",
                         {"event", ours.name()});
  if (capture_ != nullptr) {
    ours.recorded_in_capture(capture_->number());
  } else {
    ours.recorded();
  }
}

void cuda_stream::wait(const event& e) {
  const cuda_event& on = awaited(e);
  if (!on.was_recorded()) return;
  if (&on.engine() != &engine_) {
    refuse_captured_peer(*this, on);
  } else if (cuda_capture* const capture = capture_of_wait(engine_.captures, *this, on)) {
    capture->refuse_in_body("wait");
    capture->join(*this);
  }
  engine_.make_current();
  engine_.check_enqueued(cudaStreamWaitEvent(handle_, on.handle(), cudaEventWaitDefault),
                         "cudaStreamWaitEvent", {"event", on.name()});
}

/// Returns an event of this device or of one that it exchanges with; throws for others.
const cuda_event& cuda_stream::awaited(const event& e) const {
  if (typeid(e) == typeid(cuda_event)) {
    const auto& of = static_cast<const cuda_event&>(e);
    if (engine_.is_peer(of.engine())) return of;
  }
  return same_engine<cuda_event>(e, engine_);
}

void cuda_stream::call(host_function& f) {
  if (capture_ != nullptr) capture_->refuse_in_body("call");
  engine_.make_current();
  check_enqueued(cudaLaunchHostFunc(handle_, &call_host_function, &f), "cudaLaunchHostFunc");
}

void cuda_stream::stamp(timed_event& e) {
  if (capture_ == nullptr) return record(e);
  capture_->refuse_in_body("stamp");
  auto& ours = same_engine<cuda_event>(e, engine_);
  engine_.make_current();
  engine_.check_enqueued(cudaEventRecordWithFlags(ours.handle(), handle_, cudaEventRecordExternal),
                         "cudaEventRecordWithFlags", {"event", ours.name()});
  ours.recorded();  // each launch of the graph records it
  capture_->stamped(ours.handle(), ours.name());
}

void cuda_stream::select(const std::uint32_t* selector,
                         std::span<const std::function<void()>> bodies) {
  if (capture_ == nullptr) refuse_select_outside_capture(name_);
  capture_->select(*this, selector, bodies);
}

void cuda_stream::launch(graph_exec& g) {
  auto& ours = same_engine<cuda_graph_exec>(g, engine_);
  if (capture_ != nullptr) refuse_launch_in_capture(name_);
  engine_.require_current({"the graph of stream", ours.name()});
  engine_.check_enqueued(cudaGraphLaunch(ours.handle(), handle_), "cudaGraphLaunch",
                         {"the graph of stream", ours.name()});
}

void* cuda_stream::native() const noexcept {
  engine_.make_current();
  return handle_;
}

void cuda_stream::check_enqueued(cudaError_t status, const char* call) {
  engine_.check_enqueued(status, call, {"stream", name_});
}

}  // namespace graphline
