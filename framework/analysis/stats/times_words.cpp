#include "framework/analysis/stats/times_words.hpp"

#include <fmt/format.h>

namespace graphline {

std::string times_words(double ratio) {
  const int decimals = ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} times", ratio, decimals);
}

}  // namespace graphline
