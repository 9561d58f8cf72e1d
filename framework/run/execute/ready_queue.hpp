#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace graphline {

/// A ready stage of a frame. Orders by frame, then by position in the plan.
struct ready_stage {
  std::int64_t frame;  ///< index of its pass
  std::uint32_t stage;
  std::uint32_t slot;  ///< slot of the frame
  friend auto operator<=>(const ready_stage&, const ready_stage&) = default;
};

/// Ready stages that one thread executes itself, device stages first, to keep the device busy.
struct turn {
  enum class of { driver, watcher, worker };
  static constexpr std::size_t room = 32;

  // Leaves the array uninitialized, because filling it takes longer than executing a stage.
  explicit turn(of owner) noexcept : whose(owner) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  void clear() noexcept {
    device_count = 0;
    cpu_stage.reset();
  }

  of whose;
  std::array<ready_stage, room> device_stages;  ///< valid: the first `device_count`
  std::size_t device_count = 0;
  std::optional<ready_stage> cpu_stage;  ///< used by workers only
};

/// Spinlock for critical sections of a few dozen nanoseconds; putting a thread to sleep takes
/// longer.
class brief_lock {
 public:
  void lock() noexcept {
    while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

/// Priority queue of ready stages that no worker has taken. Allocates at construction only.
class ready_queue {
 public:
  explicit ready_queue(std::size_t capacity) { stages_.reserve(capacity); }

  /// @pre No other thread uses the queue.
  void clear() {
    stages_.clear();
    count_ = 0;
  }

  void push(const ready_stage& s) {
    const std::lock_guard held(lock_);
    stages_.push_back(s);
    std::ranges::push_heap(stages_, std::greater{});
    count_.store(stages_.size(), std::memory_order_relaxed);
  }

  /// @pre Not empty.
  ready_stage pop() {
    const std::lock_guard held(lock_);
    std::ranges::pop_heap(stages_, std::greater{});
    const ready_stage least = stages_.back();
    stages_.pop_back();
    count_.store(stages_.size(), std::memory_order_relaxed);
    return least;
  }

  /// Returns the first stage, in order, of `own` and the queue; the others stay queued.
  ready_stage exchange(const ready_stage& own) {
    if (count_.load(std::memory_order_relaxed) == 0) return own;
    const std::lock_guard held(lock_);
    if (stages_.empty() || own < stages_.front()) return own;
    std::ranges::pop_heap(stages_, std::greater{});
    const ready_stage least = stages_.back();
    stages_.back() = own;
    std::ranges::push_heap(stages_, std::greater{});
    return least;
  }

 private:
  brief_lock lock_;
  std::vector<ready_stage> stages_;     ///< a heap
  std::atomic<std::size_t> count_ = 0;  ///< read without the lock
};

}  // namespace graphline
