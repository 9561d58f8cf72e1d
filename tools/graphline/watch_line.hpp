#pragma once

#include <deque>
#include <string>

#include "framework/analysis/stats/running_percentiles.hpp"
#include "framework/run/execute/session.hpp"
#include "tools/graphline/progress_line.hpp"

namespace graphline {

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
  std::size_t at_first_ = 0;         ///< frames that had ended by then
  nanoseconds written_ = 0;          ///< where there is no terminal: when the last line was
  std::deque<nanoseconds> slowest_;  ///< of each half second, the latest last
  nanoseconds half_second_ = 0;      ///< when the last of these began
};

}  // namespace graphline
