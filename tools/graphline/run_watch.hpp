#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "tools/graphline/interrupt.hpp"

namespace graphline {

/// Watches a run from a thread of its own. A stage that has not returned for five seconds is named
/// once, on standard error. On a second Ctrl-C `finish` is called, with which the program ends.
class run_watch {
 public:
  /// `quiet`: names no stage.
  run_watch(bool quiet, std::function<void()> finish);
  ~run_watch();
  run_watch(const run_watch&) = delete;
  run_watch& operator=(const run_watch&) = delete;

 private:
  void watch();

  bool quiet_;
  std::function<void()> finish_;
  second_interrupt interrupt_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace graphline
