#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// A deterministic discrete-event clock that starts at time 0. A call may schedule more calls and
/// may advance the clock. Not thread-safe.
class virtual_clock {
 public:
  nanoseconds now() const noexcept { return now_; }

  /// Schedules a call at time `when`. Calls run in order of time, then in order of scheduling.
  /// @throws run_error if `when` has passed.
  void at(nanoseconds when, std::function<void()> call) { add(when, false, std::move(call)); }

  /// Same as `at`, but the call runs after all other calls of that time. For a scheduler that picks
  /// among the jobs that are ready by then.
  void at_end_of(nanoseconds when, std::function<void()> call) { add(when, true, std::move(call)); }

  /// Advances to the next call and runs it. Returns false if no call is left.
  bool step();

  /// Advances until `holds()` returns true.
  /// @throws run_error if no call is left.
  template <class Predicate>
  void run_until(Predicate&& holds) {
    while (!holds()) {
      if (!step()) refuse_to_wait();
    }
  }

  /// Returns the time of the next call; empty if none is left.
  std::optional<nanoseconds> next() const noexcept {
    return due_.empty() ? std::nullopt : std::optional(due_.front().when);
  }

  /// Runs all calls up to time `when`, except those of `at_end_of(when)`, and sets the clock to
  /// `when`. Does nothing if `when` has passed.
  void advance_to(nanoseconds when);

 private:
  struct entry {
    nanoseconds when;
    std::uint64_t order;  // scheduling order; the highest bit marks calls at the end of their time
    std::size_t call;     // index into `calls_`

    auto operator<=>(const entry&) const = default;
  };

  void add(nanoseconds when, bool at_end, std::function<void()> call);
  [[noreturn]] void refuse_to_wait() const;

  nanoseconds now_ = 0;
  std::uint64_t scheduled_ = 0;
  std::vector<entry> due_;  // a heap with the next call on top
  std::vector<std::function<void()>> calls_;
  std::vector<std::size_t> free_;  // indices into `calls_`
};

}  // namespace graphline
