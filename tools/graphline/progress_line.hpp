#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "framework/analysis/stats/running_percentiles.hpp"
#include "framework/base/clock.hpp"
#include "framework/run/execute/session.hpp"

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

/// Percentiles of a run while it runs, on standard error: one line drawn again and again on a
/// terminal, else a line every few seconds.
class watch_line {
 public:
  /// To be told with the times of the frames (`run_options::tell_latest`).
  void show(const progress& at);
  void erase() { line_.erase(); }

 private:
  void take_in(const progress& at, nanoseconds time);
  std::string percentiles() const;
  std::string text(const progress& at, std::size_t width) const;

  redrawn_line line_;
  running_percentiles times_;
  nanoseconds first_ = 0;  ///< when the first measured frames were told
  nanoseconds last_ = 0;
  std::size_t at_first_ = 0;  ///< frames that had ended by then
  nanoseconds written_ = 0;   ///< where there is no terminal: when the last line was
};

}  // namespace graphline
