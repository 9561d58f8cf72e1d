#pragma once

#include <optional>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"

namespace graphline {

/// How long a thread that waits may look away from a stop request, and from work of the device that
/// is about to end.
inline constexpr nanoseconds glance_at_stop = 50'000'000;
inline constexpr nanoseconds glance_at_device = 20'000;

/// Waits of the calling thread for moments of the host's clock: `spin` polls it, `yield` polls it
/// and yields the core, `block` sleeps. While one exists that blocks, the system wakes the thread
/// as punctually as it can.
class due_wait {
 public:
  explicit due_wait(wait_mode how) noexcept;
  ~due_wait();
  due_wait(const due_wait&) = delete;
  due_wait& operator=(const due_wait&) = delete;

  /// Returns true from the moment `due` on. Until then calls `look()`, at least once, which says
  /// for how many nanoseconds it need not be called again; nothing ends the wait at once, with
  /// false.
  template <class Look>
  bool until(nanoseconds due, const Look& look) const {
    while (true) {
      const std::optional<nanoseconds> unwatched = look();
      if (!unwatched) return false;
      const nanoseconds at = now();
      if (at >= due) return true;
      pause(due - at < *unwatched ? due : at + *unwatched);
    }
  }

  /// Polls once more, or sleeps until the moment `at`.
  void pause(nanoseconds at) const noexcept;

 private:
  wait_mode how_;
  int slack_ = -1;  ///< of the thread before, in nanoseconds; negative: left as it was
};

}  // namespace graphline
