#include "framework/analysis/experiment/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

/// How many of each block's durations are at most as long as each of `values`, which ascend.
std::vector<std::uint32_t> counts_up_to(const std::vector<nanoseconds>& values,
                                        const pooled_times& times) {
  const auto& blocks = times.blocks();
  std::vector<std::uint32_t> counts(values.size() * blocks.size());  // [value][block]
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::uint32_t count = 0;
    for (std::size_t v = 0; v < values.size(); ++v) {
      while (count < blocks[b].size() && blocks[b][count] <= values[v]) ++count;
      counts[v * blocks.size() + b] = count;
    }
  }
  return counts;
}

/// The standard deviation of where the percentile falls in the draws, as a part of the sample: by
/// how much the blocks differ in how many of their durations lie below it.
double spread_of_level(const pooled_times& times, double p, nanoseconds percentile) {
  const auto counts = counts_up_to({percentile}, times);
  const auto all = static_cast<double>(times.count());
  double squares = p * (1 - p) * all;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const double expected = p * static_cast<double>(times.blocks()[b].size());
    squares += (counts[b] - expected) * (counts[b] - expected);
  }
  return std::sqrt(squares) / all;
}

/// `count` of the values at most, evenly from the first to the last, these two among them.
void add_evenly(std::span<const nanoseconds> values, std::size_t count,
                std::vector<nanoseconds>& to) {
  count = std::min(count, values.size());
  for (std::size_t i = 0; i < count; ++i) {
    to.push_back(values[count > 1 ? (values.size() - 1) * i / (count - 1) : 0]);
  }
}

/// Values a draw's percentile is looked for among, ascending: dense where nearly all draws fall,
/// six of their standard deviations to either side, and ever sparser beyond.
std::vector<nanoseconds> candidates(const pooled_times& times, double p, nanoseconds percentile) {
  const auto all = times.outline(times.min(), times.max());
  const auto above = std::lower_bound(all.begin(), all.end(), percentile);
  const std::size_t last = all.size() - 1;
  const std::size_t middle = std::min(last, static_cast<std::size_t>(above - all.begin()));
  const double reach = 6 * spread_of_level(times, p, percentile) * static_cast<double>(all.size());
  const auto ranks_away = static_cast<std::size_t>(reach) + 1;
  const std::size_t low = middle - std::min(middle, ranks_away);
  const std::size_t high = std::min(last, middle + ranks_away);
  std::vector<nanoseconds> values = {percentile};
  // Where a single block makes up a tail, draws without it fall far away.
  for (std::size_t away = 1; away <= low; away += 1 + away / 32) values.push_back(all[low - away]);
  // Of all there are: in a far tail the outline has but few.
  add_evenly(times.outline(all[low], all[high]), 512, values);
  for (std::size_t away = 1; high + away < last; away += 1 + away / 32) {
    values.push_back(all[high + away]);
  }
  values.push_back(all[last]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::uint64_t total(std::span<const std::uint16_t> drawn, const std::uint32_t* counts) {
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < drawn.size(); ++b) sum += std::uint64_t{drawn[b]} * counts[b];
  return sum;
}

}  // namespace

block_draws::block_draws(std::size_t blocks, std::size_t count, std::uint64_t seed)
    : blocks_(blocks), times_(blocks * count) {
  std::mt19937_64 generator(seed);
  for (std::size_t draw = 0; draw < count; ++draw) {
    auto* const times = times_.data() + draw * blocks;
    for (std::size_t i = 0; i < blocks; ++i) {
      ++times[static_cast<std::size_t>(uniform_unit(generator) * static_cast<double>(blocks))];
    }
  }
}

resampled_figure resample_percentile(const pooled_times& times, double p,
                                     const block_draws& draws) {
  const nanoseconds percentile = times.percentile(p);
  resampled_figure result{static_cast<double>(percentile), {}};
  if (draws.count() == 0) return result;
  const auto values = candidates(times, p, percentile);
  const auto below = counts_up_to(values, times);
  const std::size_t blocks = times.blocks().size();
  result.draws.reserve(draws.count());
  for (std::size_t draw = 0; draw < draws.count(); ++draw) {
    const auto drawn = draws[draw];
    const auto up_to = [&](std::size_t value) {
      return total(drawn, below.data() + value * blocks);
    };
    const auto all = up_to(values.size() - 1);  // none when only blocks without durations are drawn
    const std::uint64_t wanted = all == 0 ? 0 : rank_of(p, all) + 1;
    std::size_t low = 0;
    std::size_t high = values.size() - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (up_to(middle) >= wanted) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    result.draws.push_back(static_cast<double>(values[low]));
  }
  return result;
}

resampled_figure resample_ratio(std::span<const double> above, std::span<const double> below,
                                const block_draws& draws) {
  const auto ratio = [&](auto times) {
    double numerator = 0;
    double denominator = 0;
    for (std::size_t b = 0; b < above.size(); ++b) {
      numerator += times(b) * above[b];
      denominator += times(b) * below[b];
    }
    return numerator / denominator;
  };
  resampled_figure result{ratio([](std::size_t) { return 1.0; }), {}};
  result.draws.reserve(draws.count());
  for (std::size_t draw = 0; draw < draws.count(); ++draw) {
    const auto drawn = draws[draw];
    result.draws.push_back(ratio([&](std::size_t b) { return static_cast<double>(drawn[b]); }));
  }
  return result;
}

}  // namespace graphline
