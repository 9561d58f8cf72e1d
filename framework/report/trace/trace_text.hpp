#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "framework/base/clock.hpp"
#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// Where an event of a trace belongs: numbers that no two tracks share.
struct trace_track {
  int process = 0;
  std::size_t thread = 0;
};

/// The events of a trace, written one after the other without a tree of them: there are millions.
class trace_text {
 public:
  /// `zero` is the moment that the trace calls 0.
  trace_text(text_sink& to, nanoseconds zero) : to_(to), zero_(zero) {}

  /// Begins an event with `head`, which says all of it that many have in common: an object that is
  /// not closed yet.
  trace_text& event(std::string_view head) {
    to_.append(separator_).append(head);
    separator_ = ",\n";
    return *this;
  }

  trace_text& plain(std::string_view text) {
    to_.append(text);
    return *this;
  }

  template <std::integral T>
  trace_text& number(T value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return plain({digits, end});
  }

  /// Nanoseconds as the format wants them, microseconds: "-0.001", "1234.567".
  trace_text& microseconds(nanoseconds ns) {
    const bool negative = ns < 0;
    const auto bits = static_cast<std::uint64_t>(ns);
    const std::uint64_t size = negative ? 0 - bits : bits;
    if (negative) plain("-");
    number(size / 1000);
    const auto rest = static_cast<unsigned>(size % 1000);
    const auto digit = [](unsigned value) { return static_cast<char>('0' + value); };
    const char decimals[] = {'.', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)};
    return plain({decimals, sizeof decimals});
  }

  trace_text& on(trace_track track) {
    return plain(",\"pid\":").number(track.process).plain(",\"tid\":").number(track.thread);
  }
  trace_text& at(nanoseconds ns) { return plain(",\"ts\":").microseconds(ns - zero_); }
  trace_text& lasting(nanoseconds ns) { return plain(",\"dur\":").microseconds(ns); }

  void end_event() { plain("}"); }

 private:
  text_sink& to_;
  std::string_view separator_;
  nanoseconds zero_;
};

}  // namespace graphline
