#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/device/host/command.hpp"
#include "framework/device/host/handed_call.hpp"
#include "framework/device/host/recording.hpp"

namespace graphline {

/// The queue behind a stream: a bounded ring of commands between one caller at a time and the
/// worker, without locks, and the count of commands completed, on which anybody may wait.
///
/// Lanes live as long as the device and pass from a destroyed stream to a new one. Their tickets go
/// on counting, so a recording made through an earlier stream stays passed.
class lane {
 public:
  /// Commands that can wait in a lane before its caller has to.
  static constexpr std::uint64_t capacity = 1024;

  explicit lane(std::uint32_t id) noexcept : id_(id) {}
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  std::uint32_t id() const noexcept { return id_; }

  // The caller's side.

  /// Waits until there is room and returns the ticket that the next command will have.
  ticket reserve() noexcept;

  /// Hands over the command for the ticket that `reserve` returned.
  void publish(const command& c) noexcept {
    const ticket last = submitted_.load(std::memory_order_relaxed);
    ring_[last % capacity] = c;
    submitted_.store(last + 1, std::memory_order_seq_cst);
  }

  // Anybody's side.

  /// The ticket of the latest command handed over.
  ticket submitted() const noexcept { return submitted_.load(std::memory_order_seq_cst); }

  bool passed(ticket t) const noexcept { return completed_.load(std::memory_order_acquire) >= t; }

  /// Returns when `passed(t)`.
  void wait(ticket t, wait_mode how) const noexcept;

  // The worker's side.

  /// How many commands are handed over and not completed.
  std::uint64_t backlog() const noexcept { return submitted() - served_; }

  /// The oldest of the backlog, which must not be empty; it stays in place until `complete`.
  const command& front() const noexcept { return ring_[served_ % capacity]; }
  ticket front_ticket() const noexcept { return served_ + 1; }

  /// Takes the oldest command away and wakes those asleep for it; no system call when nobody is.
  void complete() noexcept {
    completed_.store(++served_, std::memory_order_seq_cst);
    if (wake_at_.load(std::memory_order_seq_cst) <= served_) wake();
  }

  /// What the worker has spent on the lane's operations, since the lane came to be.
  nanoseconds busy = 0;

  /// The call when `front()` is one, and whether it was handed over.
  handed_call call;
  bool call_is_handed_over = false;

 private:
  static constexpr ticket nobody = std::numeric_limits<ticket>::max();
  static constexpr std::size_t line = 64;  // bytes of a cache line

  void sleep_until(ticket t) const noexcept;
  void wake() noexcept;

  const std::uint32_t id_;

  // Written by the caller.
  alignas(line) std::atomic<ticket> submitted_{0};
  ticket known_completed_ = 0;  // spares the caller a look at the worker's cache line

  // Written by the worker.
  alignas(line) std::atomic<ticket> completed_{0};
  ticket served_ = 0;

  // Written by those who sleep: the lowest ticket anybody sleeps for, and a count of wake-ups to
  // sleep on.
  alignas(line) mutable std::atomic<ticket> wake_at_{nobody};
  mutable std::atomic<std::uint32_t> wakes_{0};

  alignas(line) std::array<command, capacity> ring_{};
};

}  // namespace graphline
