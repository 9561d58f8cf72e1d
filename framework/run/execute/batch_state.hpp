#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/run/execute/executor.hpp"

namespace graphline {

/// How far a batch is whose stages go as they are ready, as its threads tell each other: what ends
/// the batch early, and how much is in hand. Nothing in hand is the end.
template <class Host>
class batch_state {
 public:
  explicit batch_state(Host& host) noexcept : host_(host) {}

  /// Begins anew, with one thing in hand, which the caller lets go of when it begins no more
  /// frames. Only while nobody else looks.
  void begin(const batch& b) {
    stop_ = b.stop;
    into_ = b.into;
    stopping_ = false;
    interrupted_ = false;
    failure_.reset();
    ended_ = false;
    in_hand_ = 1;
  }

  /// One more thing in hand. Whatever was done before it is seen after `taken_over`: oneTBB orders
  /// the two anyhow, but the thread sanitizer, for which it is not built, cannot know.
  void one_more() noexcept { in_hand_.fetch_add(1, std::memory_order_release); }
  void taken_over() const noexcept { static_cast<void>(in_hand_.load(std::memory_order_acquire)); }
  void one_less() noexcept {
    if (in_hand_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    change([this] { ended_ = true; });
  }

  /// From within a catch block. No frame begins after this; those under way go on as far as they
  /// can. The first failure is the one told.
  void fail(const plan& p, std::optional<std::size_t> stage, std::int64_t frame) noexcept {
    stopping_ = true;
    // Tells a thread that waits for the slot of the frame, too: it stays as it is.
    change([&] {
      if (failure_) return;
      try {
        failure_ = describe_failure(p, stage, frame);
      } catch (const std::bad_alloc&) {
        failure_ = "out of memory";  // as short as a string holds by itself
      }
    });
  }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

  /// False after a failure, and once a stop is requested, which ends the batch too.
  bool may_begin_frame() noexcept {
    if (stopping()) return false;
    if (stop_ == nullptr || !stop_->raised()) return true;
    interrupted_ = true;
    return false;
  }

  /// Changes what a thread in `wait_for_change` may wait for.
  template <class Function>
  void change(Function&& f) {
    host_.change(f);
  }

  /// Until `reached`, a failure or some time has passed.
  template <class Condition>
  void wait_for_change(nanoseconds at_most, Condition&& reached) {
    host_.wait_for(at_most, [&] { return reached() || stopping_; });
  }

  /// Waits until nothing is in hand; tells the meter meanwhile.
  batch_result wait_for_end(progress_meter& meter) {
    while (!host_.wait_for(100'000'000, [this] { return ended_; })) {
      meter.frame_done(into_->complete(), host_.now());
    }
    return {.completed = into_->complete(), .interrupted = interrupted_, .failure = failure_};
  }

 private:
  Host& host_;
  const stop_request* stop_ = nullptr;
  const recording* into_ = nullptr;  ///< counts the frames that are complete
  std::atomic<bool> stopping_{false};
  std::atomic<bool> interrupted_{false};
  std::atomic<std::int64_t> in_hand_{0};
  bool ended_ = false;                  ///< by `change`
  std::optional<std::string> failure_;  ///< likewise
};

}  // namespace graphline
