#include "framework/analysis/stats/histogram.hpp"

#include <algorithm>
#include <cmath>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

namespace {

using sorted = std::vector<nanoseconds>;

nanoseconds ranked(const sorted& times, double p) {
  return times[rank_of(p, times.size())];
}

/// Returns the outer limit of the bins, above or below the median.
nanoseconds reach_of(const sorted& times, bool upper) {
  constexpr double far = 5;  // multiple of the distance from p50 to p90 or p10
  const auto last = upper ? times.back() : times.front();
  const auto middle = ranked(times, 0.5);
  const auto body = std::abs(static_cast<double>(ranked(times, upper ? 0.9 : 0.1) - middle));
  const auto limit = far * std::max(body, std::abs(static_cast<double>(middle)) / 100);
  if (std::abs(static_cast<double>(last - middle)) <= limit) return last;
  return middle + std::llround(upper ? limit : -limit);
}

/// Returns the next width in the series 1, 2, 5, 10.
nanoseconds next_wider(nanoseconds width) {
  nanoseconds first = width;
  while (first >= 10) first /= 10;
  return first == 2 ? width / 2 * 5 : width * 2;
}

double wanted_width(const sorted& times, nanoseconds range) {
  // If all values are equal, choose a width with readable edges.
  if (times.front() == times.back()) return std::abs(static_cast<double>(times.front())) / 100;
  const auto n = static_cast<double>(times.size());
  const auto between = ranked(times, 0.75) - ranked(times, 0.25);
  const double width = 2 * static_cast<double>(between) / std::cbrt(n);
  const double most = static_cast<double>(range) / (1 + std::log2(n));
  return width > 0 ? std::min(width, most) : most;
}

/// Returns the bin edge at or before a time. A time can be negative if the clock is broken.
nanoseconds edge_before(nanoseconds time, nanoseconds width) {
  const auto remainder = time % width;
  return time - (remainder < 0 ? remainder + width : remainder);
}

/// Returns the number of bins from the bin of `from` to the bin of `to`.
std::size_t bins_between(nanoseconds from, nanoseconds to, nanoseconds width) {
  return static_cast<std::size_t>((to - edge_before(from, width)) / width) + 1;
}

}  // namespace

std::optional<histogram> histogram_of(std::vector<nanoseconds> sample, std::size_t most_bins) {
  if (sample.empty()) return std::nullopt;
  std::sort(sample.begin(), sample.end());
  const auto low = reach_of(sample, false);
  const auto high = reach_of(sample, true);
  // Choose the largest round width up to `limit`, or a larger one if there are too many bins.
  const double limit = 1.25 * wanted_width(sample, high - low);
  histogram result;
  while (static_cast<double>(next_wider(result.width)) <= limit ||
         bins_between(low, high, result.width) > most_bins) {
    result.width = next_wider(result.width);
  }
  result.begin = edge_before(low, result.width);
  result.counts.resize(bins_between(low, high, result.width));
  return counted_like(result, sample);
}

histogram counted_like(const histogram& like, std::span<const nanoseconds> sample) {
  histogram result = like;
  result.counts.assign(like.counts.size(), 0);
  result.below = 0;
  result.beyond = 0;
  for (const auto time : sample) {
    if (time < result.begin) {
      ++result.below;
    } else if (time >= result.end()) {
      ++result.beyond;
    } else {
      ++result.counts[static_cast<std::size_t>((time - result.begin) / result.width)];
    }
  }
  return result;
}

}  // namespace graphline
