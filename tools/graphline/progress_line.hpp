#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "framework/base/clock.hpp"

namespace graphline {

/// Says how far a run is: one line on standard error, drawn again in place and erased at the end.
/// Only on a terminal, and only once two seconds have passed.
class progress_line {
 public:
  /// `quiet`: it says nothing.
  explicit progress_line(bool quiet = false);
  ~progress_line() { erase(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// "measuring  12 of 45 frames, about 3 s left". What is left is reckoned from what has passed
  /// unless it is given.
  void show(std::string_view activity, std::int64_t done, std::int64_t total, std::string_view what,
            std::optional<nanoseconds> left = {});
  void erase();

 private:
  bool shown_;  ///< where it may be
  bool drawn_ = false;
  nanoseconds started_;
  nanoseconds begun_;  ///< when what is counted now began, from 0
  std::int64_t done_ = 0;
};

}  // namespace graphline
