#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/clock.hpp"

namespace graphline {

/// One line on standard error, drawn again in place and erased at the end. Nothing where standard
/// error is no terminal. Whatever ends the program leaves the terminal as it was, but for the line.
class redrawn_line {
 public:
  redrawn_line();
  ~redrawn_line() { erase(); }
  redrawn_line(const redrawn_line&) = delete;
  redrawn_line& operator=(const redrawn_line&) = delete;

  bool on_terminal() const noexcept { return terminal_; }
  void draw(std::string_view text);
  void erase();

 private:
  bool terminal_;
  bool drawn_ = false;
};

/// Says how far a run is. Only on a terminal, and only once two seconds have passed.
class progress_line {
 public:
  /// `quiet`: it says nothing.
  explicit progress_line(bool quiet = false) : quiet_(quiet), started_(now()) {}

  /// "measuring  12 of 45 frames, about 3 s left". What is left is reckoned from what has passed
  /// unless it is given.
  void show(std::string_view activity, std::int64_t done, std::int64_t total, std::string_view what,
            std::optional<nanoseconds> left = {});
  void erase() { line_.erase(); }

 private:
  bool quiet_;
  redrawn_line line_;
  nanoseconds started_;
};

}  // namespace graphline
