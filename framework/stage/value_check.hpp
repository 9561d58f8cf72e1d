#pragma once

#include <string>

namespace graphline {

/// Also implemented by a `device_work` that can find values that it cannot compute with.
class value_check {
 public:
  virtual ~value_check() = default;

  /// Returns what was wrong with the values since the last call, and forgets it; empty if nothing
  /// was. Called after each frame that ran the work, when the frame is complete; a problem ends the
  /// run with an error that names the stage and the frame.
  virtual std::string take_problem() = 0;
};

}  // namespace graphline
