#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

/// How much longer an experiment takes, by what the trials of each configuration took on average.
class remaining_time {
 public:
  explicit remaining_time(std::size_t configurations) : of_(configurations) {}

  /// A trial of a configuration took that long.
  void took(std::size_t configuration, nanoseconds length);

  /// For as many trials of each configuration as `blocks` less those there were. Where no further
  /// block begins after `limit` from now on, no more than that and one block. Nothing before the
  /// first trial; a configuration that had none yet counts as the average one.
  std::optional<nanoseconds> left(std::size_t blocks, std::optional<nanoseconds> limit) const;

 private:
  struct tally {
    std::size_t trials = 0;
    nanoseconds together = 0;
  };
  std::vector<tally> of_;
};

}  // namespace graphline
