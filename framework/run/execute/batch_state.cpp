#include "framework/run/execute/batch_state.hpp"

namespace graphline {

void batch_state::one_less() noexcept {
  if (in_hand_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  change([this] { ended_ = true; });
}

void batch_state::fail(const plan& p, std::optional<std::size_t> stage,
                       std::int64_t frame) noexcept {
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

bool batch_state::may_begin_frame() noexcept {
  if (stopping()) return false;
  if (stop_ == nullptr || !stop_->raised()) return true;
  interrupted_ = true;
  return false;
}

batch_result batch_state::wait_for_end(progress_meter& meter) {
  std::unique_lock lock(lock_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return ended_; })) {
    meter.frame_done(completed(), now());
  }
  return {.completed = completed(), .interrupted = interrupted_, .failure = failure_};
}

}  // namespace graphline
