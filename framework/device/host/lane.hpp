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
#include "framework/device/capture_session.hpp"
#include "framework/device/commands.hpp"
#include "framework/device/device.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {

/// Number of a command in its lane, counted from 1.
using ticket = std::uint64_t;

/// The latest recording of an event: a lane and a ticket, packed into one word for atomic access.
/// The recording is complete once the lane has completed the ticket. A wait stores a copy, which
/// refers to the same recording even if the event is recorded again.
class recorded_point {
 public:
  /// Maximum number of lanes, and thus of streams of a device.
  static constexpr std::uint32_t max_lanes = 1024;

  constexpr recorded_point() = default;

  static constexpr recorded_point at(std::uint32_t lane, ticket t) noexcept {
    return recorded_point((std::uint64_t{lane} << ticket_bits) | t);
  }

  static constexpr recorded_point in_capture(std::uint64_t capture) noexcept {
    return recorded_point((std::uint64_t{captured_lane} << ticket_bits) | capture);
  }

  constexpr bool is_never() const noexcept { return word_ == 0; }
  constexpr bool is_in_capture() const noexcept { return lane() == captured_lane; }

  constexpr std::uint32_t lane() const noexcept {
    return static_cast<std::uint32_t>(word_ >> ticket_bits);
  }

  /// Returns the ticket; for a recording in a capture, the number of the capture.
  constexpr std::uint64_t number() const noexcept { return word_ & number_mask; }

  constexpr bool operator==(const recorded_point&) const = default;

 private:
  // 48 bits of tickets last nine years at one command per microsecond.
  static constexpr int ticket_bits = 48;
  static constexpr std::uint64_t number_mask = (std::uint64_t{1} << ticket_bits) - 1;
  static constexpr std::uint32_t captured_lane = 0xffff;
  static_assert(max_lanes < captured_lane);

  constexpr explicit recorded_point(std::uint64_t word) noexcept : word_(word) {}

  std::uint64_t word_ = 0;
};

static_assert(std::atomic<recorded_point>::is_always_lock_free);

/// A host function submitted to the caller thread. Part of its lane or graph, so that submission
/// does not allocate. Reusable once the function has returned.
class handed_call {
 public:
  /// Returns true if the latest submitted call has returned.
  bool has_returned() const noexcept { return returned_.load(std::memory_order_seq_cst); }

 private:
  friend class host_caller;

  host_function* function_ = nullptr;
  handed_call* next_ = nullptr;
  std::atomic<bool> returned_{false};
};

class device_failure;
class graph_run;
class host_event;
class host_stream;
class lane;

/// The point in a lane that a command waits for; none if `on` is null.
struct lane_wait {
  const lane* on = nullptr;
  ticket at = 0;
};

struct operate_command {
  host_operation* operation;
};

struct stamp_command {
  host_event* stamped;
};

/// Records an event; `stamped` is null if the event has no time stamp.
struct record_command {
  host_event* stamped;
};

struct wait_command {
  lane_wait after;
  const device_failure* of_peer = nullptr;  ///< of the other device whose lane it waits for
};

/// Launches a graph after the previous launch of the same executable.
struct launch_command {
  graph_run* run;
  lane_wait after;
};

/// A stream command. Trivially copyable, so that submission only copies it into the ring.
using command =
    std::variant<operate_command, copy_command, fill_command, call_command, stamp_command,
                 select_command, record_command, wait_command, launch_command>;

static_assert(std::is_trivially_copyable_v<command> && sizeof(command) <= 32);

/// Returns true if the worker spends time on the command.
inline bool is_work(const command& c) noexcept {
  return std::holds_alternative<operate_command>(c) || std::holds_alternative<copy_command>(c) ||
         std::holds_alternative<fill_command>(c);
}

/// Returns the name of a graph node's command for listings, traces and messages.
std::string name_of(const command& c);

using host_captured = captured_graph<command>;  // without recordings, waits and launches
using host_capture = capture_session<host_stream, host_event, command>;
using host_captures = capture_registry<host_capture>;

/// The command queue of a stream. A lock-free ring connects one producer at a time with the worker.
/// Any thread may wait for the completion count.
///
/// Lanes live as long as the device and are reused by new streams. Tickets are never reset, so
/// recordings of earlier streams remain complete.
class lane {
 public:
  /// Maximum number of queued commands. The producer waits while the queue is full.
  static constexpr std::uint64_t capacity = 1024;

  explicit lane(std::uint32_t id) noexcept : id_(id) {}
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  std::uint32_t id() const noexcept { return id_; }

  // Producer side.

  /// Waits for a free slot and returns the ticket of the next command.
  ticket reserve() noexcept;

  /// Submits the command for the ticket from `reserve`.
  void publish(const command& c) noexcept {
    const ticket last = submitted_.load(std::memory_order_relaxed);
    ring_[last % capacity] = c;
    points_[last % capacity] = thread_activity::own().at();
    submitted_.store(last + 1, std::memory_order_seq_cst);
  }

  // Any thread.

  ticket submitted() const noexcept { return submitted_.load(std::memory_order_seq_cst); }

  bool passed(ticket t) const noexcept { return completed_.load(std::memory_order_seq_cst) >= t; }

  void wait(ticket t, wait_mode how) const noexcept;

  // Worker side.

  /// Returns the number of submitted commands that are not complete.
  std::uint64_t backlog() const noexcept { return submitted() - served_; }

  /// Returns the oldest incomplete command.
  /// @pre `backlog() > 0`
  const command& front() const noexcept { return ring_[served_ % capacity]; }
  ticket front_ticket() const noexcept { return served_ + 1; }

  /// Returns the stage and frame for which the oldest incomplete command was submitted.
  const stage_point& front_point() const noexcept { return points_[served_ % capacity]; }

  /// Completes the oldest command. Makes a system call only if a thread waits for the completion.
  void complete() noexcept {
    completed_.store(++served_, std::memory_order_seq_cst);
    if (wake_at_.load(std::memory_order_seq_cst) <= served_) wake();
  }

  /// Total time spent on the lane's operations.
  nanoseconds busy = 0;

  /// For a call command at the front: the call, and whether it was submitted.
  handed_call call;
  bool call_is_submitted = false;

 private:
  static constexpr ticket nobody = std::numeric_limits<ticket>::max();
  static constexpr std::size_t line = 64;  // bytes of a cache line

  void sleep_until(ticket t) const noexcept;
  void wake() noexcept;

  const std::uint32_t id_;

  // Written by the producer.
  alignas(line) std::atomic<ticket> submitted_{0};
  ticket known_completed_ = 0;  // a copy that saves reads of the worker's cache line

  // Written by the worker.
  alignas(line) std::atomic<ticket> completed_{0};
  ticket served_ = 0;

  // The lowest ticket that a thread waits for, and the futex word, which counts wake-ups.
  alignas(line) mutable std::atomic<ticket> wake_at_{nobody};
  mutable std::atomic<std::uint32_t> wakes_{0};

  alignas(line) std::array<command, capacity> ring_{};
  std::array<stage_point, capacity> points_{};
};

/// All lanes of a device, with their use and priority.
class lane_table {
 public:
  /// Lanes in use, by priority, highest first.
  using roster = std::array<std::vector<lane*>, 3>;

  /// Returns an empty roster with capacity for all lanes, so that `list` does not allocate.
  static roster make_roster();

  /// @throws run_error if all `recorded_point::max_lanes` are in use
  lane& acquire(priority level);

  /// @pre all commands of the lane are complete
  void release(const lane& l) noexcept;

  /// Returns a number that changes on each `acquire` and `release`.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_seq_cst); }

  void list(roster& into) const;

  /// If the recording is not complete, returns its point; otherwise, returns a null lane.
  lane_wait pending(recorded_point r) const noexcept;

  /// Waits until the recording is complete. Returns at once if there is none or it is in a capture.
  void wait(recorded_point r, wait_mode how) const noexcept;

  /// Waits for all commands submitted before the call, on all lanes.
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

  // Read without the mutex.
  std::array<std::atomic<const lane*>, recorded_point::max_lanes> by_id_{};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace graphline
