#include "framework/device/cuda/cuda_event.hpp"

#include <sched.h>

#include <algorithm>

#include "framework/base/clock.hpp"
#include "framework/device/cuda/cuda_engine.hpp"

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
  refuse_if_captured();
  engine_.failed.throw_if_set();
  engine_.make_current();
  const cudaError_t status = cudaEventQuery(handle_);
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // a launch that is checked next would report it
    return false;
  }
  engine_.check(status, "cudaEventQuery", {"event", name_});
  return true;
}

void cuda_event::wait(wait_mode how) const {
  if (how == wait_mode::block) {
    refuse_if_captured();
    engine_.failed.throw_if_set();
    engine_.make_current();
    engine_.check(cudaEventSynchronize(handle_), "cudaEventSynchronize", {"event", name_});
    return;
  }
  // Each query takes the driver's lock, which other threads want for their launches.
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

void cuda_event::refuse_if_captured() const {
  if (capture_number() == 0) return;
  throw run_error(
      fmt::format("event '{}' was last recorded in a capture, where nothing passes it; record it "
                  "on a stream before waiting for it",
                  name_));
}

void cuda_event::refuse_without_time() const {
  if (!keeps_time_) {
    throw run_error(fmt::format("event '{}' keeps no time; make a timed event", name_));
  }
  refuse_if_captured();
  if (!was_recorded()) throw run_error(fmt::format("event '{}' was never recorded", name_));
}

}  // namespace graphline
