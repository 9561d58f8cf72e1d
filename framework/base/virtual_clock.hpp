#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// A clock whose time passes only when it is asked to go on, and the calls that are due on it. It
/// starts at 0, reads no real clock, and makes the same calls in the same order every time. For one
/// thread at a time. A call may schedule others and may itself let the clock go on.
class virtual_clock {
 public:
  nanoseconds now() const noexcept { return now_; }

  /// Schedules a call for the time `when`. Calls are made in the order of their time, and in the
  /// order in which they were scheduled where that is the same. Throws `run_error` when `when` has
  /// passed.
  void at(nanoseconds when, std::function<void()> call) { add(when, false, std::move(call)); }

  /// As `at`, but after everything else that happens at that time: for whoever picks among what is
  /// ready by then.
  void at_end_of(nanoseconds when, std::function<void()> call) { add(when, true, std::move(call)); }

  /// Goes on to the next call and makes it. False when none is left.
  bool step();

  /// Goes on until `holds()`. Throws `run_error` when no call is left that could make it hold.
  template <class Predicate>
  void run_until(Predicate&& holds) {
    while (!holds()) {
      if (!step()) refuse_to_wait();
    }
  }

  /// When the next call is due; nothing when none is left.
  std::optional<nanoseconds> next() const noexcept {
    return due_.empty() ? std::nullopt : std::optional(due_.front().when);
  }

  /// Makes all calls up to and including the time `when`, but for those at its end, and stands
  /// there. No effect when it has passed.
  void advance_to(nanoseconds when);

 private:
  struct entry {
    nanoseconds when;
    std::uint64_t order;  // the highest bit is set of those at the end of their time
    std::size_t call;     // index into `calls_`

    auto operator<=>(const entry&) const = default;
  };

  void add(nanoseconds when, bool at_end, std::function<void()> call);
  [[noreturn]] void refuse_to_wait() const;

  nanoseconds now_ = 0;
  std::uint64_t scheduled_ = 0;
  std::vector<entry> due_;  // a heap, the next on top
  std::vector<std::function<void()>> calls_;
  std::vector<std::size_t> free_;  // indices into `calls_`
};

}  // namespace graphline
