#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/stage/policy.hpp"

namespace graphline {

/// A ready stage of a frame. Small, because turns pass it on for each stage.
struct ready_stage {
  std::int64_t frame;  ///< index of its pass
  std::uint32_t stage;
  std::uint16_t pipeline;  ///< index among those that share a queue or a window
  std::uint16_t slot;      ///< slot of the frame
  friend auto operator<=>(const ready_stage&, const ready_stage&) = default;
};

/// A ready stage with its place in the order: by the policy's rank, then by due time of the frame,
/// then by position in the plan.
struct ordered_stage {
  policy_rank rank;  ///< equal for all stages without a policy
  nanoseconds due;   ///< of the first frame of its pass
  ready_stage ready;
  friend auto operator<=>(const ordered_stage&, const ordered_stage&) = default;
};

/// Returns true if `a` goes before `b` without a policy.
inline bool is_older(const ordered_stage& a, const ordered_stage& b) noexcept {
  return std::tie(a.due, a.ready) < std::tie(b.due, b.ready);
}

/// Ready stages that one thread executes itself, device stages first, to keep the device busy.
struct turn {
  enum class of { driver, watcher, worker, timer };
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

/// Heap of ready stages. Allocates in `reserve` only.
class ready_heap {
 public:
  void reserve(std::size_t more) { stages_.reserve(stages_.capacity() + more); }
  void clear() noexcept { stages_.clear(); }
  bool empty() const noexcept { return stages_.empty(); }
  std::size_t size() const noexcept { return stages_.size(); }
  const ordered_stage& first() const noexcept { return stages_.front(); }
  const ordered_stage& oldest() const noexcept {
    return *std::ranges::min_element(stages_, is_older);
  }

  void push(const ordered_stage& s) {
    stages_.push_back(s);
    std::ranges::push_heap(stages_, std::greater{});
  }

  /// @pre Not empty.
  ordered_stage pop() noexcept {
    std::ranges::pop_heap(stages_, std::greater{});
    const ordered_stage least = stages_.back();
    stages_.pop_back();
    return least;
  }

  /// Replaces the first stage, which it returns.
  /// @pre Not empty.
  ordered_stage exchange(const ordered_stage& added) noexcept {
    std::ranges::pop_heap(stages_, std::greater{});
    const ordered_stage least = std::exchange(stages_.back(), added);
    std::ranges::push_heap(stages_, std::greater{});
    return least;
  }

 private:
  std::vector<ordered_stage> stages_;
};

/// Priority queue of ready stages that no worker has taken. Allocates in `reserve` only.
class ready_queue {
 public:
  // @pre No other thread uses the queue.

  void reserve(std::size_t more) { waiting_.reserve(more); }
  void begin() {
    waiting_.clear();
    count_ = 0;
    notes_ = false;
  }

  /// Lets `pop` and `exchange` set `oldest` to the stage that would go first without ranks, which
  /// takes linear time.
  void note_oldest() {
    const std::lock_guard held(lock_);
    notes_ = true;
  }

  void push(const ordered_stage& s) {
    const std::lock_guard held(lock_);
    waiting_.push(s);
    count_.store(waiting_.size(), std::memory_order_relaxed);
  }

  /// @pre Not empty.
  ready_stage pop(ready_stage& oldest) {
    const std::lock_guard held(lock_);
    if (notes_) oldest = waiting_.oldest().ready;
    const ready_stage first = waiting_.pop().ready;
    count_.store(waiting_.size(), std::memory_order_relaxed);
    return first;
  }

  /// Returns the first stage of `own` and the queue; the others stay queued.
  /// @param ordered Returns `own` with its place in the order; called if the queue is not empty.
  template <class Ordered>
  ready_stage exchange(const ready_stage& own, const Ordered& ordered, ready_stage& oldest) {
    oldest = own;
    if (count_.load(std::memory_order_relaxed) == 0) return own;
    const std::lock_guard held(lock_);
    if (waiting_.empty()) return own;
    const ordered_stage placed = ordered();
    if (notes_) oldest = std::min(placed, waiting_.oldest(), is_older).ready;
    return placed < waiting_.first() ? own : waiting_.exchange(placed).ready;
  }

 private:
  brief_lock lock_;
  ready_heap waiting_;
  bool notes_ = false;
  std::atomic<std::size_t> count_ = 0;  ///< read without the lock
};

/// Stages of a device that wait until fewer than a maximum are issued and not complete.
class device_window {
 public:
  explicit device_window(std::size_t size) : size_(size) {}

  // @pre No other thread uses the window.

  void reserve(std::size_t more) { waiting_.reserve(more); }
  void begin() {
    waiting_.clear();
    issued_ = 0;
    notes_ = false;
  }

  /// As `ready_queue::note_oldest`, for `take`.
  void note_oldest() {
    const std::lock_guard held(lock_);
    notes_ = true;
  }

  void push(const ordered_stage& s) {
    const std::lock_guard held(lock_);
    waiting_.push(s);
  }

  /// Takes the stage that goes first and counts it as issued; returns false if none may be issued.
  bool take(ready_stage& first, ready_stage& oldest) {
    const std::lock_guard held(lock_);
    if (waiting_.empty() || issued_ == size_) return false;
    ++issued_;
    if (notes_) oldest = waiting_.oldest().ready;
    first = waiting_.pop().ready;
    return true;
  }

  void completed() {
    const std::lock_guard held(lock_);
    --issued_;
  }

 private:
  const std::size_t size_;
  brief_lock lock_;
  ready_heap waiting_;
  bool notes_ = false;
  std::size_t issued_ = 0;
};

template <class Host>
class ready_executor;

/// A queue with its workers, and windows, of one pipeline or of several that share them.
template <class Host>
struct ready_resources {
  explicit ready_resources(std::int64_t window_size, std::size_t devices = 1) {
    while (window_size > 0 && windows.size() < devices) {
      windows.emplace_back(static_cast<std::size_t>(window_size));
    }
  }

  ready_queue queue;
  std::deque<device_window> windows;  ///< by device; empty if the number of stages has no limit
  typename Host::workers workers;
  std::atomic<std::uint64_t> ready_count{0};     ///< stages that became ready
  std::vector<ready_executor<Host>*> executors;  ///< by pipeline
};

/// Resources that a pipeline shares with others; null where it has its own.
template <class Host>
struct shared_resources {
  std::shared_ptr<ready_resources<Host>> cpu = nullptr;     ///< queue and workers
  std::shared_ptr<ready_resources<Host>> device = nullptr;  ///< windows
  std::uint16_t pipeline = 0;                               ///< index among those that share
};

}  // namespace graphline
