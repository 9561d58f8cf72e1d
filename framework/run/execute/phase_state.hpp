#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "framework/base/clock.hpp"
#include "framework/run/execute/executor.hpp"

namespace graphline {

/// Shared state of a running phase: stop request, failure and number of pending work items. The
/// phase ends when nothing is pending.
template <class Host>
class phase_state {
 public:
  /// @param on_failure Called after each failure, on the thread that reports it; does not throw.
  explicit phase_state(Host& host, std::function<void()> on_failure = {})
      : host_(host), on_failure_(std::move(on_failure)) {}

  /// Resets the state. The caller finishes one pending item after beginning the last frame.
  /// @pre No other thread uses the state.
  void begin(const phase& b) {
    stop_ = b.stop;
    into_ = b.into;
    stopping_ = false;
    interrupted_ = false;
    failure_.reset();
    ended_ = false;
    pending_ = 1;
  }

  /// Makes writes before `add_pending` visible after `acquire`. oneTBB does so too, but the thread
  /// sanitizer does not see it.
  void add_pending() noexcept { pending_.fetch_add(1, std::memory_order_release); }
  void acquire() const noexcept { static_cast<void>(pending_.load(std::memory_order_acquire)); }
  void finish_pending() noexcept {
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    change([this] { ended_ = true; });
  }

  /// Records the exception being handled if it is the phase's first failure. No further frame
  /// begins, and frames in flight proceed as far as they can. Call within a catch block.
  void fail(const plan& p, std::optional<std::size_t> stage, std::int64_t frame) noexcept {
    stopping_ = true;
    // Also wakes a thread that waits for this frame's slot, because the slot stays occupied.
    change([&] {
      if (failure_) return;
      try {
        failure_ = describe_failure(p, stage, frame);
      } catch (const interrupted_error&) {
        interrupted_ = true;  // of a stage that waited for another rank
      } catch (const std::bad_alloc&) {
        failure_ = "out of memory";  // fits the small-string buffer
      }
    });
    if (on_failure_) on_failure_();
  }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

  /// Returns false after a failure or a stop request.
  bool may_begin_frame() noexcept {
    if (stopping()) return false;
    if (stop_ == nullptr || !stop_->raised()) return true;
    interrupted_ = true;
    return false;
  }

  template <class Function>
  void change(Function&& f) {
    host_.change(f);
  }

  /// Waits until `reached()` returns true, the phase fails or the time is up.
  template <class Condition>
  void wait_for_change(nanoseconds at_most, Condition&& reached) {
    host_.wait_for(at_most, [&] { return reached() || stopping_; });
  }

  /// Waits until nothing is pending; reports progress.
  phase_result wait_for_end(progress_meter& meter) {
    while (!host_.wait_for(100'000'000, [this] { return ended_; })) {
      meter.frame_done(into_->frames_complete(), host_.now());
    }
    return {.completed = into_->complete(), .interrupted = interrupted_, .failure = failure_};
  }

 private:
  Host& host_;
  std::function<void()> on_failure_;
  const stop_request* stop_ = nullptr;
  const recording* into_ = nullptr;  ///< counts complete frames
  std::atomic<bool> stopping_{false};
  std::atomic<bool> interrupted_{false};
  std::atomic<std::int64_t> pending_{0};
  bool ended_ = false;                  ///< guarded by `change`
  std::optional<std::string> failure_;  ///< guarded by `change`
};

}  // namespace graphline
