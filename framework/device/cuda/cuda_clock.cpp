#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/cuda/cuda_engine.hpp"

namespace graphline {
namespace {

const std::string anchor_name = "clock anchor";
const std::string tick_name = "clock tick";

/// Used until the tick is measured, as documented: "cudaEventElapsedTime ... with a resolution of
/// around 0.5 microseconds" (CUDA Runtime API). Devices measured: 32 ns and 1.024 us.
constexpr nanoseconds documented_tick = 500;

constexpr std::size_t events_for_tick = 100;
constexpr int tries = 20;  ///< recordings to find the most exact anchor

/// Returns the rounding error of a float32 time, whose mantissa has 24 bits.
nanoseconds rounding_of(nanoseconds elapsed) {
  return std::abs(elapsed) >> 24;
}

}  // namespace

cuda_clock::cuda_clock(cuda_engine& engine) : engine_(engine), tick_(documented_tick) {
  place(current_);
  tick_ = measured_tick();
}

clock_check cuda_clock::check() {
  engine_.failed.throw_if_set();
  const std::scoped_lock one_at_a_time(checking_);
  place(next_);
  const std::scoped_lock lock(mutex_);
  clock_check result{.at = next_.point.at, .error = next_.point.error + tick_};
  if (checked_) {
    // Device time from the old anchor to the new one.
    const nanoseconds since =
        elapsed(current_.event.get(), anchor_name, next_.event.get(), anchor_name);
    result.drift = current_.point.at + since - next_.point.at;
    result.rounding = tick_ + 2 * rounding_of(since);  // rounding of a stamp and of `since`
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
  return {current_.point.at + after, current_.point.error + tick_ + rounding_of(after)};
}

unique_cuda<cudaEvent_t> cuda_clock::make_event() const {
  cudaEvent_t made = nullptr;
  engine_.check(cudaEventCreateWithFlags(&made, cudaEventDefault), "cudaEventCreateWithFlags",
                {"event", anchor_name});
  return unique_cuda<cudaEvent_t>(made);
}

void cuda_clock::poll(cudaEvent_t e, const cuda_subject& subject) const {
  cudaError_t status = cudaErrorNotReady;
  while (status == cudaErrorNotReady) status = cudaEventQuery(e);
  engine_.check(status, "cudaEventQuery", subject);
  static_cast<void>(cudaGetLastError());  // clears cudaErrorNotReady
}

/// Returns the smallest step among the sorted times between successive events, starting from 0.
nanoseconds cuda_clock::measured_tick() const {
  // Smaller steps come from float32 rounding.
  constexpr nanoseconds rounded = 4;
  const cuda_subject subject{"event", tick_name};
  std::vector<unique_cuda<cudaEvent_t>> events;
  for (std::size_t i = 0; i < events_for_tick; ++i) {
    events.push_back(make_event());
    engine_.check(cudaEventRecord(events.back().get(), engine_.setup.get()), "cudaEventRecord",
                  subject);
  }
  poll(events.back().get(), subject);

  std::vector<nanoseconds> times{0};
  for (std::size_t i = 1; i < events.size(); ++i) {
    times.push_back(elapsed(events[i - 1].get(), tick_name, events[i].get(), tick_name));
  }
  std::ranges::sort(times);
  nanoseconds smallest = std::numeric_limits<nanoseconds>::max();
  for (std::size_t i = 1; i < times.size(); ++i) {
    const nanoseconds step = times[i] - times[i - 1];
    if (step >= rounded) smallest = std::min(smallest, step);
  }
  return smallest == std::numeric_limits<nanoseconds>::max() ? documented_tick : smallest;
}

/// Keeps the most exact of several events, each recorded between two readings of the host's clock.
void cuda_clock::place(anchor& a) const {
  const cuda_subject subject{"event", anchor_name};
  unique_cuda<cudaEvent_t> tried = make_event();
  a.event = make_event();
  nanoseconds tightest = std::numeric_limits<nanoseconds>::max();
  for (int i = 0; i < tries; ++i) {
    const nanoseconds before = now();
    engine_.check(cudaEventRecord(tried.get(), engine_.setup.get()), "cudaEventRecord", subject);
    poll(tried.get(), subject);
    const nanoseconds after = now();
    if (after - before >= tightest) continue;
    tightest = after - before;
    a.point = {before + tightest / 2, tightest - tightest / 2};
    std::swap(a.event, tried);
  }
}

}  // namespace graphline
