#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "framework/base/stage_activity.hpp"
#include "framework/base/virtual_clock.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/capture_session.hpp"
#include "framework/device/commands.hpp"
#include "framework/device/model/model_device.hpp"
#include "framework/device/operation_log.hpp"

namespace graphline {

class model_engine;
class model_event;
class model_run;
class model_stream;
struct model_lane;

/// A point in a lane. Complete once the lane has completed `at` commands, or if the lane is null.
struct model_point {
  const model_lane* on = nullptr;
  std::uint64_t at = 0;

  bool has_passed() const noexcept;
  bool operator==(const model_point&) const = default;
};

struct model_operation {
  std::string name;
  model_duration duration;
};

/// A recording, or a stamp in a graph.
struct model_record {
  model_event* stamped;
};

struct model_wait {
  model_point after;
};

struct model_launch {
  model_run* run;
};

using model_command = std::variant<model_operation, copy_command, fill_command, call_command,
                                   select_command, model_record, model_wait, model_launch>;

/// Returns the name of a graph node's command for listings, traces and messages.
std::string name_of(const model_command& c);

/// Measures the total time during which at least one operation is active.
class model_busy_time {
 public:
  void begin(nanoseconds now) noexcept {
    if (active_++ == 0) since_ = now;
  }
  void end(nanoseconds now) noexcept {
    if (--active_ == 0) total_ += now - since_;
  }

  /// @pre no operation is active
  nanoseconds total() const noexcept { return total_; }

 private:
  int active_ = 0;
  nanoseconds since_ = 0;
  nanoseconds total_ = 0;
};

/// A command that occupies an engine. It belongs to a lane or to a graph launched in that lane.
struct model_job {
  const model_command* what = nullptr;
  model_lane* lane = nullptr;
  model_run* run = nullptr;  ///< null outside a graph
  std::size_t node = 0;      ///< index in the graph; of a switch, the active node of its body
};

/// The command queue of a stream. Lives as long as the device and is reused by new streams, so that
/// its points remain complete.
struct model_lane {
  explicit model_lane(model_engine& of) : engine(&of) {}

  model_engine* engine;
  priority level = priority::normal;
  bool is_in_use = false;
  std::deque<model_command> queue;  ///< the first command is active or waits
  std::deque<stage_point> points;   ///< stage and frame of each command
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  model_job front = {};  ///< job of the first command, if the command has one
  model_busy_time busy = {};

  model_point front_point() const noexcept { return {this, completed + 1}; }
  model_point latest_point() const noexcept { return {this, submitted}; }
};

inline bool model_point::has_passed() const noexcept {
  return on == nullptr || on->completed >= at;
}

using model_capture = capture_session<model_stream, model_event, model_command>;
using model_captured = captured_graph<model_command>;  // without waits and launches

/// State that the streams, events and graphs of a `model` device share, and its simulation.
class model_engine {
 public:
  model_engine(virtual_clock& on, const model_settings& given);
  model_engine(const model_engine&) = delete;
  model_engine& operator=(const model_engine&) = delete;

  /// Locked by every host call. Recursive, because a wait runs callbacks of the clock.
  std::recursive_mutex mutex;

  virtual_clock& clock;
  const model_settings settings;
  device_failure failed;
  capture_registry<model_capture> captures;
  operation_log log;

  model_lane& acquire(priority level);

  /// @pre all commands of the lane are complete
  void release(model_lane& lane) noexcept { lane.is_in_use = false; }

  void submit(model_lane& lane, model_command c);

  bool is_idle() const noexcept { return unfinished_ == 0; }

  /// Schedules a job whose dependencies are complete.
  void make_ready(model_job& job);

  /// Advances the clock until `holds()`.
  /// @throws run_error if the clock has no event left
  template <class Predicate>
  void wait_until(Predicate&& holds) {
    const std::scoped_lock lock(mutex);
    clock.run_until(holds);
  }

  /// Same as `wait_until`, but for destructors: returns if the clock has no event left.
  template <class Predicate>
  void drain_until(Predicate&& holds) noexcept {
    const std::scoped_lock lock(mutex);
    while (!holds() && clock.step()) {
    }
  }

 private:
  struct ready_job {
    priority level;
    std::uint64_t order;
    model_job* job;

    bool operator>(const ready_job& other) const noexcept {
      return std::tie(level, order) > std::tie(other.level, other.order);
    }
  };

  /// The free engines of one kind and the jobs that are ready for them.
  struct engine_pool {
    int free;
    std::priority_queue<ready_job, std::vector<ready_job>, std::greater<>> ready = {};

    bool can_start() const noexcept { return free > 0 && !ready.empty(); }
  };

  struct waiting_lane {
    model_lane* lane;
    model_point after;
  };

  engine_pool& pool_of(const model_command& c) noexcept;
  void resume(model_lane& lane);
  void settle();
  void free_waiting();
  bool passes(model_lane& lane);
  void begin_graph(model_lane& lane);
  void complete_front(model_lane& lane);
  void enter(model_job& job);
  void start_later();
  void start_ready();
  nanoseconds start(model_job& job);
  void finish(model_job& job);
  nanoseconds time_of(const model_job& job);
  void fail(const model_job& job, std::string_view reason) noexcept;

  std::vector<std::unique_ptr<model_lane>> lanes_;
  std::uint64_t unfinished_ = 0;  // incomplete commands of all lanes
  nanoseconds idle_since_ = 0;
  nanoseconds serves_from_ = 0;        // end of the latest start after an idle time
  std::deque<model_lane*> resumed_;    // lanes whose first command may complete or start
  std::vector<waiting_lane> waiting_;  // for points of this device, in order of their begin
  bool any_passed_ = false;            // true if a point was completed since the last check
  std::uint64_t ready_count_ = 0;
  bool is_starting_later_ = false;
  engine_pool calls_{1};
  engine_pool copies_{1};
  engine_pool operations_;
};

}  // namespace graphline
