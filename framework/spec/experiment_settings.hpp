#pragma once

#include <cstdint>
#include <optional>

#include "framework/base/clock.hpp"

namespace graphline {

/// How an experiment is carried out and judged: the keys of an experiment file beside what varies.
struct experiment_settings {
  std::int64_t trials = 10;               ///< of each configuration, at most
  std::optional<nanoseconds> time_limit;  ///< no block of trials begins after it
  /// Ends when every interval of the p50's ratio reaches at most this far to either side.
  std::optional<double> narrow_to;
  double margin = 0.01;          ///< a ratio within 1 +- margin counts as the same
  double tail = 0.95;            ///< the other percentile that is compared, beside p50
  std::uint64_t seed = 1;        ///< of the random order
  bool fresh_processes = false;  ///< a process of its own for each trial
  bool repeat_affected = false;  ///< repeat blocks in which the machine was not itself
};

}  // namespace graphline
