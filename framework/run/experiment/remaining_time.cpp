#include "framework/run/experiment/remaining_time.hpp"

#include <algorithm>
#include <cmath>

namespace graphline {

void remaining_time::took(std::size_t configuration, nanoseconds length) {
  ++of_[configuration].trials;
  of_[configuration].together += length;
}

std::optional<nanoseconds> remaining_time::left(std::size_t blocks,
                                                std::optional<nanoseconds> limit) const {
  tally all;
  for (const auto& t : of_) {
    all.trials += t.trials;
    all.together += t.together;
  }
  if (all.trials == 0) return std::nullopt;
  double block = 0;
  double left = 0;
  for (const auto& t : of_) {
    const auto& known = t.trials > 0 ? t : all;
    const double mean = static_cast<double>(known.together) / static_cast<double>(known.trials);
    block += mean;
    left += mean * static_cast<double>(blocks - std::min(blocks, t.trials));
  }
  if (limit) left = std::min(left, static_cast<double>(*limit) + block);
  return std::llround(left);
}

}  // namespace graphline
