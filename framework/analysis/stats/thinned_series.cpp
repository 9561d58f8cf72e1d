#include "framework/analysis/stats/thinned_series.hpp"

#include <algorithm>
#include <numeric>

namespace graphline {

namespace {

std::vector<std::size_t> all_below(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void keep_each_once(std::vector<std::size_t>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

}  // namespace

std::vector<std::size_t> thinned_series(std::span<const nanoseconds> values, std::size_t most) {
  if (values.size() <= most) return all_below(values.size());
  const std::size_t stretches = (most - 2) / 2;
  std::vector<std::size_t> kept = {0, values.size() - 1};
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(values.size() * i / stretches);
    const auto last =
        values.begin() + static_cast<std::ptrdiff_t>(values.size() * (i + 1) / stretches);
    const auto [low, high] = std::minmax_element(first, last);
    kept.push_back(static_cast<std::size_t>(low - values.begin()));
    kept.push_back(static_cast<std::size_t>(high - values.begin()));
  }
  keep_each_once(kept);
  return kept;
}

std::vector<std::size_t> evenly_spread(std::size_t count, std::size_t most) {
  if (count <= most) return all_below(count);
  std::vector<std::size_t> kept(most);
  for (std::size_t i = 0; i < most; ++i) kept[i] = (count - 1) * i / (most - 1);
  return kept;
}

}  // namespace graphline
