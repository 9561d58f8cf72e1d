#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/stage_activity.hpp"
#include "framework/base/words.hpp"
#include "framework/device/commands.hpp"
#include "framework/device/device.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {

/// Counts the commands of one lane, from 1.
using ticket = std::uint64_t;

/// Where an event was last recorded: a lane and the ticket of the command in it, packed into one
/// word so that it can be read and replaced atomically. It has passed once that lane has completed
/// that ticket. Keeping the point and not a counter is what makes a wait refer to the recording it
/// saw, even when the event is recorded again on another stream that runs ahead.
class recorded_point {
 public:
  /// How many lanes can be told apart, and so how many streams a device has at most.
  static constexpr std::uint32_t max_lanes = 1024;

  /// Never recorded.
  constexpr recorded_point() = default;

  static constexpr recorded_point at(std::uint32_t lane, ticket t) noexcept {
    return recorded_point((std::uint64_t{lane} << ticket_bits) | t);
  }

  /// Recorded while a capture was building a graph; `capture` counts the device's captures.
  static constexpr recorded_point in_capture(std::uint64_t capture) noexcept {
    return recorded_point((std::uint64_t{captured_lane} << ticket_bits) | capture);
  }

  constexpr bool is_never() const noexcept { return word_ == 0; }
  constexpr bool is_in_capture() const noexcept { return lane() == captured_lane; }

  constexpr std::uint32_t lane() const noexcept {
    return static_cast<std::uint32_t>(word_ >> ticket_bits);
  }

  /// The ticket within the lane, or the number of the capture.
  constexpr std::uint64_t number() const noexcept { return word_ & number_mask; }

  constexpr bool operator==(const recorded_point&) const = default;

 private:
  // 48 bits of tickets last for nine years of one command a microsecond.
  static constexpr int ticket_bits = 48;
  static constexpr std::uint64_t number_mask = (std::uint64_t{1} << ticket_bits) - 1;
  static constexpr std::uint32_t captured_lane = 0xffff;
  static_assert(max_lanes < captured_lane);

  constexpr explicit recorded_point(std::uint64_t word) noexcept : word_(word) {}

  std::uint64_t word_ = 0;
};

static_assert(std::atomic<recorded_point>::is_always_lock_free);

/// A host function's way through the caller thread. Belongs to the lane or the graph that the call
/// stands in, so that handing one over allocates nothing; used again once it has returned.
class handed_call {
 public:
  /// Whether the latest call handed over has returned; the caller thread is done with it then.
  bool has_returned() const noexcept { return returned_.load(std::memory_order_seq_cst); }

 private:
  friend class host_caller;

  host_function* function_ = nullptr;
  handed_call* next_ = nullptr;
  std::atomic<bool> returned_{false};
};

class graph_run;
class host_event;
class lane;

/// The point in a lane that a command waits for; without a lane, none.
struct lane_wait {
  const lane* on = nullptr;
  ticket at = 0;
};

struct operate_command {
  host_operation* operation;
};

/// Stamps an event from inside a graph; outside, a recording does.
struct stamp_command {
  host_event* stamped;
};

/// Marks a point in the lane; `stamped` is the event to stamp, or null when it keeps no time.
struct record_command {
  host_event* stamped;
};

struct wait_command {
  lane_wait after;
};

/// Every node of a graph, once the previous launch of the same executable is done.
struct launch_command {
  graph_run* run;
  lane_wait after;
};

/// What a stream asks of the worker: plain data, so that submitting is a copy into a ring.
using command = std::variant<operate_command, copy_command, fill_command, call_command,
                             stamp_command, record_command, wait_command, launch_command>;

static_assert(std::is_trivially_copyable_v<command> && sizeof(command) <= 32);

/// Whether the worker has to carry it out, rather than pass it or hand it over.
inline bool is_work(const command& c) noexcept {
  return std::holds_alternative<operate_command>(c) || std::holds_alternative<copy_command>(c) ||
         std::holds_alternative<fill_command>(c);
}

/// What a command that can be a node of a graph is called in listings, traces and messages.
std::string name_of(const command& c);

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
    points_[last % capacity] = thread_activity::own().at();
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

  /// What its caller worked on when it handed the oldest over.
  const stage_point& front_point() const noexcept { return points_[served_ % capacity]; }

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
  std::array<stage_point, capacity> points_{};
};

/// The lanes of a device: which exist, which are in use, and at which priority.
class lane_table {
 public:
  /// The lanes in use, by priority, highest first.
  using roster = std::array<std::vector<lane*>, 3>;

  /// With room for all lanes there may be, so that `list` takes no memory.
  static roster make_roster();

  /// A lane that no stream uses. Throws `run_error` when all `recorded_point::max_lanes` are in
  /// use.
  lane& acquire(priority level);

  /// Gives a lane back; nothing may be left to do on it.
  void release(const lane& l) noexcept;

  /// Changes whenever a lane is acquired or released.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_seq_cst); }

  /// Overwrites `into` with the lanes in use.
  void list(roster& into) const;

  /// The point a recording stands for; without a lane when it is none or has passed.
  lane_wait pending(recorded_point r) const noexcept;

  /// Returns when the recording has passed; at once when it is none or of a capture.
  void wait(recorded_point r, wait_mode how) const noexcept;

  /// Returns when every command handed over so far, on every lane, is completed.
  void wait_for_all(wait_mode how) const noexcept;

 private:
  struct entry {
    std::unique_ptr<lane> owned;
    priority level;
    bool in_use;
  };

  const lane* find(recorded_point r) const noexcept;

  mutable std::mutex mutex_;
  std::vector<entry> entries_;
  std::atomic<std::uint64_t> version_{0};

  // Read without the mutex by whoever holds a recording.
  std::array<std::atomic<const lane*>, recorded_point::max_lanes> by_id_{};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace graphline
