#include "framework/analysis/stats/histogram.hpp"

#include <algorithm>
#include <cmath>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

namespace {

using sorted = std::vector<nanoseconds>;

constexpr double far = 5;  ///< a tail of so many times the body is cut off
constexpr double cuts[] = {0.999, 0.99, 0.95};

/// How far the bins reach on one side, and the percentile if that is less than all.
struct reach {
  nanoseconds to = 0;
  std::optional<double> cut;
};

/// From the other end: the percentile p of times turned around is 1 - p of the times.
nanoseconds ranked(const sorted& times, double p, bool upper) {
  const auto rank = rank_of(p, times.size());
  return times[upper ? rank : times.size() - 1 - rank];
}

reach reach_of(const sorted& times, bool upper) {
  const nanoseconds last = upper ? times.back() : times.front();
  const nanoseconds middle = ranked(times, 0.5, upper);
  const auto limit = far * static_cast<double>(std::abs(ranked(times, 0.9, upper) - middle));
  const auto within = [&](nanoseconds to) {
    return static_cast<double>(std::abs(to - middle)) <= limit;
  };
  if (within(last)) return {last, {}};
  for (const double p : cuts) {
    const auto to = ranked(times, p, upper);
    if (to == last) continue;  // too small a sample for this one
    if (within(to) || p == std::end(cuts)[-1]) return {to, upper ? p : 1 - p};
  }
  return {last, {}};
}

/// The largest of 1, 2 and 5 times a power of ten that is not much wider; at least 1.
nanoseconds rounded(double width) {
  const double limit = 1.25 * width;
  if (limit < 2) return 1;
  const double power = std::pow(10, std::floor(std::log10(limit)));
  double best = power;
  for (const double digit : {2.0, 5.0}) {
    if (digit * power <= limit) best = digit * power;
  }
  return std::llround(best);
}

/// 1 -> 2 -> 5 -> 10.
nanoseconds next_wider(nanoseconds width) {
  nanoseconds first = width;
  while (first >= 10) first /= 10;
  return first == 2 ? width / 2 * 5 : width * 2;
}

double wanted_width(const sorted& times, nanoseconds range) {
  // Where all are equal any width will do: one whose edges can be read.
  if (times.front() == times.back()) return std::abs(static_cast<double>(times.front())) / 100;
  const auto n = static_cast<double>(times.size());
  const auto between = ranked(times, 0.75, true) - ranked(times, 0.25, true);
  const double width = 2 * static_cast<double>(between) / std::cbrt(n);
  const double most = static_cast<double>(range) / (1 + std::log2(n));
  return width > 0 ? std::min(width, most) : most;
}

/// The edge at or before a time, which a broken clock may put below zero.
nanoseconds edge_before(nanoseconds time, nanoseconds width) {
  const auto remainder = time % width;
  return time - (remainder < 0 ? remainder + width : remainder);
}

/// Bins from the one that holds `from` to the one that holds `to`.
std::size_t bins_between(nanoseconds from, nanoseconds to, nanoseconds width) {
  return static_cast<std::size_t>((to - edge_before(from, width)) / width) + 1;
}

}  // namespace

std::optional<histogram> histogram_of(std::vector<nanoseconds> sample, std::size_t most_bins) {
  if (sample.empty()) return std::nullopt;
  std::sort(sample.begin(), sample.end());
  const auto low = reach_of(sample, false);
  const auto high = reach_of(sample, true);

  histogram result;
  result.cut_below = low.cut;
  result.cut_beyond = high.cut;
  result.width = rounded(wanted_width(sample, high.to - low.to));
  while (bins_between(low.to, high.to, result.width) > most_bins) {
    result.width = next_wider(result.width);
  }
  result.begin = edge_before(low.to, result.width);
  result.counts.resize(bins_between(low.to, high.to, result.width));
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
