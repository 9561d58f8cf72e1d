#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "framework/base/clock.hpp"

namespace graphline {

/// One line on standard error that says how far a run is, redrawn in place and erased at the end.
/// Only on a terminal, and only once two seconds have passed.
class progress_line {
 public:
  progress_line();
  ~progress_line() { erase(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// "measuring  12 of 45 frames, about 3 s left". What is left is reckoned from what has passed
  /// unless it is given.
  void show(std::string_view activity, std::int64_t done, std::int64_t total, std::string_view what,
            std::optional<nanoseconds> left = {});
  void erase();

 private:
  bool terminal_;
  bool drawn_ = false;
  nanoseconds started_;
};

}  // namespace graphline
