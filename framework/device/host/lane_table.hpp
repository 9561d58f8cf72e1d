#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/device/host/lane.hpp"
#include "framework/device/host/recording.hpp"

namespace graphline {

/// The lanes of a device: which exist, which are in use, and at which priority.
class lane_table {
 public:
  /// The lanes in use, by priority, highest first.
  using roster = std::array<std::vector<lane*>, 3>;

  /// With room for all lanes there may be, so that `list` takes no memory.
  static roster make_roster();

  /// A lane that no stream uses. Throws `run_error` when all `recording::max_lanes` are in use.
  lane& acquire(priority level);

  /// Gives a lane back; nothing may be left to do on it.
  void release(const lane& l) noexcept;

  /// Changes whenever a lane is acquired or released.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_seq_cst); }

  /// Overwrites `into` with the lanes in use.
  void list(roster& into) const;

  /// The point a recording stands for; without a lane when it is none or has passed.
  dependency pending(recording r) const noexcept;

  /// Returns when the recording has passed; at once when it is none or of a capture.
  void wait(recording r, wait_mode how) const noexcept;

  /// Returns when every command handed over so far, on every lane, is completed.
  void wait_for_all(wait_mode how) const noexcept;

 private:
  struct entry {
    std::unique_ptr<lane> owned;
    priority level;
    bool in_use;
  };

  const lane* find(recording r) const noexcept;

  mutable std::mutex mutex_;
  std::vector<entry> entries_;
  std::atomic<std::uint64_t> version_{0};

  // Read without the mutex by whoever holds a recording.
  std::array<std::atomic<const lane*>, recording::max_lanes> by_id_{};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace graphline
