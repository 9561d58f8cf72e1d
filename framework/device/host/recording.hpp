#pragma once

#include <atomic>
#include <cstdint>

namespace graphline {

/// Counts the commands of one lane, from 1.
using ticket = std::uint64_t;

/// Where an event was last recorded: a lane and the ticket of the command in it, packed into one
/// word so that it can be read and replaced atomically. It has passed once that lane has completed
/// that ticket. Keeping the point and not a counter is what makes a wait refer to the recording it
/// saw, even when the event is recorded again on another stream that runs ahead.
class recording {
 public:
  /// How many lanes can be told apart, and so how many streams a device has at most.
  static constexpr std::uint32_t max_lanes = 1024;

  /// Never recorded.
  constexpr recording() = default;

  static constexpr recording at(std::uint32_t lane, ticket t) noexcept {
    return recording((std::uint64_t{lane} << ticket_bits) | t);
  }

  /// Recorded while a capture was building a graph; `capture` counts the device's captures.
  static constexpr recording in_capture(std::uint64_t capture) noexcept {
    return recording((std::uint64_t{captured_lane} << ticket_bits) | capture);
  }

  constexpr bool is_never() const noexcept { return word_ == 0; }
  constexpr bool is_in_capture() const noexcept { return lane() == captured_lane; }

  constexpr std::uint32_t lane() const noexcept {
    return static_cast<std::uint32_t>(word_ >> ticket_bits);
  }

  /// The ticket within the lane, or the number of the capture.
  constexpr std::uint64_t number() const noexcept { return word_ & number_mask; }

  constexpr bool operator==(const recording&) const = default;

 private:
  // 48 bits of tickets last for nine years of one command a microsecond.
  static constexpr int ticket_bits = 48;
  static constexpr std::uint64_t number_mask = (std::uint64_t{1} << ticket_bits) - 1;
  static constexpr std::uint32_t captured_lane = 0xffff;
  static_assert(max_lanes < captured_lane);

  constexpr explicit recording(std::uint64_t word) noexcept : word_(word) {}

  std::uint64_t word_ = 0;
};

static_assert(std::atomic<recording>::is_always_lock_free);

}  // namespace graphline
