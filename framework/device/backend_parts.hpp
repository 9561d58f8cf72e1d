#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/stage_activity.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// Usage counters of one kind of memory.
struct memory_account {
  std::atomic<std::size_t> bytes{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<std::uint64_t> allocations{0};

  void add(std::size_t more) noexcept {
    const std::size_t in_use = bytes.fetch_add(more) + more;
    std::size_t highest = peak.load();
    while (highest < in_use && !peak.compare_exchange_weak(highest, in_use)) {
    }
    allocations.fetch_add(1);
  }
};

inline memory_usage usage_of(const memory_account& device, const memory_account& pinned) noexcept {
  return {.device_bytes = device.bytes.load(),
          .device_peak_bytes = device.peak.load(),
          .pinned_bytes = pinned.bytes.load(),
          .pinned_peak_bytes = pinned.peak.load(),
          .allocations = device.allocations.load() + pinned.allocations.load()};
}

/// The first fatal failure of a device. Never reset, because a failed operation leaves its results
/// undefined.
class device_failure {
 public:
  bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }

  void throw_if_set() const {
    if (!is_set()) return;
    if (names_stage_) throw stage_failure(message_);
    throw run_error(message_);
  }

  /// Reports that `device` failed in operation `name()` while working on the stage and frame `at`.
  template <class Name>
  void set(const stage_point& at, const Name& name, const char* device,
           std::string_view reason) noexcept {
    // During preparation, the caller adds the stage's name to the message.
    const bool names_stage = at.stage != nullptr && at.frame >= 0;
    set(
        [&] {
          return fmt::format("{}operation '{}' failed on the {} device: {}",
                             names_stage ? to_string(at) + ": " : "", name(), device, reason);
        },
        names_stage);
  }

  /// Stores `message()`; later calls do nothing. With `names_stage`, waits throw a `stage_failure`.
  template <class Message>
  void set(const Message& message, bool names_stage = false) noexcept {
    const std::scoped_lock lock(mutex_);
    if (is_set()) return;
    try {
      message_ = message();
      names_stage_ = names_stage;
    } catch (const std::bad_alloc&) {
      message_ = "out of memory";  // short enough for a string without allocation
    }
    set_.store(true, std::memory_order_release);
  }

  /// Fails as `peer` did, if it did.
  void set_from(const device_failure& peer) noexcept {
    if (peer.is_set()) set([&] { return peer.message_; }, peer.names_stage_);
  }

 private:
  std::mutex mutex_;
  std::string message_;       // written once, before `set_`
  bool names_stage_ = false;  // written once, before `set_`
  std::atomic<bool> set_{false};
};

/// The open captures of a device. `Capture` has a `number()` and an `origin_name()`.
template <class Capture>
class capture_registry {
 public:
  /// Adds a capture and returns its number, counted from 1.
  std::uint64_t add(Capture& capture) {
    const std::scoped_lock lock(mutex_);
    open_.push_back(&capture);
    return ++count_;
  }

  void remove(const Capture& capture) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase(open_, &capture);
  }

  /// Returns the capture with this number; null if it has ended.
  Capture* find(std::uint64_t number) const {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(open_, number, &Capture::number);
    return found == open_.end() ? nullptr : *found;
  }

  /// @throws run_error during a capture, because on some devices a device-wide wait invalidates it
  void refuse_synchronize() const {
    const std::scoped_lock lock(mutex_);
    if (open_.empty()) return;
    throw run_error(
        fmt::format("the device cannot be synchronized while stream '{}' is being captured; end "
                    "the capture first",
                    open_.front()->origin_name()));
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::vector<Capture*> open_;
};

/// Casts `object` to the final type `T` of the backend.
/// @throws run_error if `object` and `engine` belong to different devices
template <class T, class U, class Engine>
auto& same_engine(U& object, const Engine& engine) {
  using result = std::conditional_t<std::is_const_v<U>, const T, T>;
  if (typeid(object) == typeid(T)) {
    auto& ours = static_cast<result&>(object);
    if (&ours.engine() == &engine) return ours;
  }
  throw run_error(
      "a stream, event or graph of one device was used with another; make it on the device that "
      "uses it");
}

/// Returns the capture that contains a wait of stream `s` for event `e`; null if there is none.
/// @pre `e` was recorded
/// @throws run_error if that capture has ended, or if `s` is captured and `e` was recorded outside
template <class Capture, class Stream, class Event>
Capture* capture_of_wait(const capture_registry<Capture>& captures, const Stream& s,
                         const Event& e) {
  const std::uint64_t number = e.capture_number();
  if (number != 0) {
    if (Capture* const found = captures.find(number)) return found;
    throw run_error(fmt::format(
        "stream '{}' cannot wait for event '{}': it was last recorded in a capture that has ended; "
        "record it again",
        s.name(), e.name()));
  }
  if (s.capture() == nullptr) return nullptr;
  throw run_error(fmt::format(
      "stream '{}' is being captured and cannot wait for event '{}', which was recorded outside "
      "the capture; record it inside, or wait before the capture begins",
      s.name(), e.name()));
}

/// @throws run_error if `s` is captured, or `e`, of another device, was last recorded in a capture
template <class Stream, class Event>
void refuse_captured_peer(const Stream& s, const Event& e) {
  if (s.capture() == nullptr && e.capture_number() == 0) return;
  throw run_error(fmt::format(
      "stream '{}' cannot wait in a capture for event '{}' of another device", s.name(), e.name()));
}

/// @throws run_error if `e` was last recorded in a capture, because a wait for it would never end
template <class Event>
void refuse_if_captured(const Event& e) {
  if (e.capture_number() == 0) return;
  throw run_error(
      fmt::format("event '{}' was last recorded in a capture, where nothing passes it; record it "
                  "on a stream before waiting for it",
                  e.name()));
}

[[noreturn]] inline void refuse_select_outside_capture(const std::string& stream) {
  throw run_error(
      fmt::format("stream '{}' cannot select between bodies outside a capture; select on the host, "
                  "or capture the switch",
                  stream));
}

/// @param what type of graph node, or another noun
[[noreturn]] inline void refuse_in_body(const std::string& stream, std::string_view what) {
  throw run_error(
      fmt::format("a body of a switch on stream '{}' cannot contain a {}; it can only contain "
                  "operations, copies and fills on this stream",
                  stream, what));
}

/// Returns the name of a switch in graph listings.
inline std::string switch_name(std::size_t bodies) {
  return fmt::format("switch of {}", bodies);
}

[[noreturn]] inline void refuse_launch_in_capture(const std::string& stream) {
  throw run_error(
      fmt::format("stream '{}' is being captured and cannot launch a graph; enqueue what the graph "
                  "holds instead",
                  stream));
}

}  // namespace graphline
