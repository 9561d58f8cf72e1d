#include "framework/device/cuda/cuda_clock.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "framework/base/clock.hpp"
#include "framework/device/cuda/cuda_engine.hpp"

namespace graphline {
namespace {

const std::string anchor_name = "clock anchor";

/// "cudaEventElapsedTime ... with a resolution of around 0.5 microseconds" (CUDA Runtime API).
constexpr nanoseconds resolution = 500;

/// How many times the anchor is tried; the tightest counts.
constexpr int tries = 20;

/// By how much a time may be rounded, since float32 keeps 24 bits of it.
nanoseconds rounding_of(nanoseconds elapsed) {
  return std::abs(elapsed) >> 24;
}

}  // namespace

cuda_clock::cuda_clock(cuda_engine& engine) : engine_(engine) {
  place(current_);
}

clock_check cuda_clock::check() {
  engine_.failed.throw_if_set();
  const std::scoped_lock one_at_a_time(checking_);
  place(next_);
  const std::scoped_lock lock(mutex_);
  clock_check result{.at = next_.point.at, .error = next_.point.error + resolution};
  if (checked_) {
    // What the old anchor says of the new one.
    const nanoseconds since =
        elapsed(current_.event.get(), anchor_name, next_.event.get(), anchor_name);
    result.drift = current_.point.at + since - next_.point.at;
    result.rounding = resolution + 2 * rounding_of(since);  // of a point's time, and of this one
  }
  std::swap(current_, next_);
  checked_ = true;
  return result;
}

nanoseconds cuda_clock::elapsed(cudaEvent_t earlier, const std::string& earlier_name,
                                cudaEvent_t later, const std::string& later_name) const {
  engine_.make_current();
  float milliseconds = 0;
  const cudaError_t status = cudaEventElapsedTime(&milliseconds, earlier, later);
  if (status == cudaErrorNotReady || status == cudaErrorInvalidResourceHandle) {
    static_cast<void>(cudaGetLastError());
    throw run_error(fmt::format(
        "there is no time from event '{}' to event '{}': one of them {}", earlier_name, later_name,
        status == cudaErrorNotReady ? "has not passed yet; wait for it first"
                                    : "was never recorded"));
  }
  engine_.check(status, "cudaEventElapsedTime", {"event", later_name});
  return std::llround(static_cast<double>(milliseconds) * 1e6);
}

host_point cuda_clock::on_host_clock(cudaEvent_t e, const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const nanoseconds after = elapsed(current_.event.get(), anchor_name, e, name);
  return {current_.point.at + after, current_.point.error + resolution + rounding_of(after)};
}

unique_cuda<cudaEvent_t> cuda_clock::make_event() const {
  cudaEvent_t made = nullptr;
  engine_.check(cudaEventCreateWithFlags(&made, cudaEventDefault), "cudaEventCreateWithFlags",
                {"event", anchor_name});
  return unique_cuda<cudaEvent_t>(made);
}

/// Records an event between two readings of the host's clock, several times, and keeps the one with
/// the shortest time between them.
void cuda_clock::place(anchor& a) const {
  const cuda_subject subject{"event", anchor_name};
  unique_cuda<cudaEvent_t> tried = make_event();
  a.event = make_event();
  nanoseconds tightest = std::numeric_limits<nanoseconds>::max();
  for (int i = 0; i < tries; ++i) {
    const nanoseconds before = now();
    engine_.check(cudaEventRecord(tried.get(), engine_.setup.get()), "cudaEventRecord", subject);
    cudaError_t status = cudaErrorNotReady;
    while (status == cudaErrorNotReady) status = cudaEventQuery(tried.get());
    const nanoseconds after = now();
    engine_.check(status, "cudaEventQuery", subject);
    static_cast<void>(cudaGetLastError());  // not ready, which a launch checked next would report
    if (after - before >= tightest) continue;
    tightest = after - before;
    a.point = {before + tightest / 2, tightest - tightest / 2};
    std::swap(a.event, tried);
  }
}

}  // namespace graphline
