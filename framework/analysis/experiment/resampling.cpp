#include "framework/analysis/experiment/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

/// For each value and block, counts the durations of the block that are at most the value.
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

/// Returns candidate values for the percentile of a draw, ascending. Nearly all draws fall on
/// values with ranks near that of the percentile. For the others, which lack a block with long
/// durations, adds an even subset of all values.
std::vector<nanoseconds> candidates(const pooled_times& times, double p) {
  constexpr std::size_t most = 8'192;
  const auto& all = times.sorted();
  const std::size_t rank = rank_of(p, all.size());
  const std::size_t begin = rank - std::min(rank, most);
  const std::size_t end = std::min(all.size(), rank + most);
  std::vector<nanoseconds> values(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                  all.begin() + static_cast<std::ptrdiff_t>(end));
  if (values.size() < all.size()) {
    for (std::size_t i = 0; i < most; ++i) values.push_back(all[(all.size() - 1) * i / (most - 1)]);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::uint64_t total(std::span<const std::uint16_t> drawn, const std::uint32_t* counts) {
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < drawn.size(); ++b) sum += std::uint64_t{drawn[b]} * counts[b];
  return sum;
}

/// Returns true if the value and all replicates are positive, so that they have logarithms.
bool usable(const resampled_figure& figure) {
  return figure.value > 0 &&
         std::ranges::all_of(figure.draws, [](double draw) { return draw > 0; });
}

/// Returns the studentized deviations from the mean; empty if values differ by rounding only.
std::vector<double> deviations_of(const std::vector<double>& draws) {
  const double mean = mean_of(draws);
  const double spread = stddev_of(draws).value_or(0);
  std::vector<double> result;
  if (spread > 1e-12) {
    for (const double draw : draws) result.push_back((draw - mean) / spread);
  }
  return result;
}

/// Corrects a bootstrap standard deviation: the bootstrap variance of a mean of n values is too
/// small by the factor (n - 1) / n, or (n - k) / n if they are drawn within k ranks.
double error_of(double spread, block_count of) {
  return spread *
         std::sqrt(static_cast<double>(of.blocks) / static_cast<double>(of.degrees_of_freedom()));
}

}  // namespace

pooled_times::pooled_times(std::vector<std::vector<nanoseconds>> blocks)
    : blocks_(std::move(blocks)) {
  for (auto& block : blocks_) {
    std::sort(block.begin(), block.end());
    sorted_.insert(sorted_.end(), block.begin(), block.end());
  }
  std::sort(sorted_.begin(), sorted_.end());
}

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
  resampled_figure result{static_cast<double>(times.sorted()[rank_of(p, times.count())]), {}};
  if (draws.count() == 0) return result;
  const auto values = candidates(times, p);
  const auto below = counts_up_to(values, times);
  const std::size_t blocks = times.blocks().size();
  result.draws.reserve(draws.count());
  for (std::size_t draw = 0; draw < draws.count(); ++draw) {
    const auto drawn = draws[draw];
    const auto up_to = [&](std::size_t value) {
      return total(drawn, below.data() + value * blocks);
    };
    const auto all = up_to(values.size() - 1);  // 0 if only blocks without durations are drawn
    const std::uint64_t wanted = all == 0 ? 0 : rank_of(p, all) + 1;
    const auto value = first_that(std::size_t{0}, values.size() - 1,
                                  [&](std::size_t index) { return up_to(index) >= wanted; });
    result.draws.push_back(static_cast<double>(values[value]));
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

resampled_figure average_of_ranks(const std::vector<resampled_figure>& of,
                                  const std::vector<double>& weights, bool fractions) {
  const auto average = [&](auto value) {
    double sum = 0;
    for (std::size_t r = 0; r < of.size(); ++r) {
      sum += weights[r] * (fractions ? value(of[r]) : std::log(value(of[r])));
    }
    return fractions ? sum : std::exp(sum);
  };
  resampled_figure result{average([](const auto& f) { return f.value; }), {}};
  for (std::size_t d = 0; d < of.front().draws.size(); ++d) {
    result.draws.push_back(average([d](const auto& f) { return f.draws[d]; }));
  }
  for (std::size_t r = 0; r < of.size(); ++r) {
    result.least_error = std::hypot(result.least_error, weights[r] * of[r].least_error);
  }
  return result;
}

std::optional<double> log_error(const resampled_figure& figure, block_count blocks) {
  if (figure.draws.empty() || !usable(figure)) return std::nullopt;
  std::vector<double> logs;
  for (const double draw : figure.draws) logs.push_back(std::log(draw));
  return error_of(stddev_of(logs).value_or(0), blocks);
}

std::optional<double> share_error(const resampled_figure& figure, block_count blocks) {
  if (figure.draws.empty()) return std::nullopt;
  return std::max(error_of(stddev_of(figure.draws).value_or(0), blocks), figure.least_error);
}

std::optional<contrast> contrast::of(const resampled_figure& value,
                                     const resampled_figure& reference, block_count blocks) {
  if (!usable(value) || !usable(reference)) return std::nullopt;
  auto result = of_shares(value, reference, blocks);
  std::vector<double> logs(value.draws.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] = std::log(value.draws[i] / reference.draws[i]);
  }
  result.log_ratio_ = std::log(value.value / reference.value);
  result.error_ = error_of(stddev_of(logs).value_or(0), blocks);
  result.deviations_ = deviations_of(logs);
  return result;
}

contrast contrast::of_shares(const resampled_figure& value, const resampled_figure& reference,
                             block_count blocks) {
  std::vector<double> differences(value.draws.size());
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i] = value.draws[i] - reference.draws[i];
  }
  contrast result;
  result.difference_ = value.value - reference.value;
  result.difference_error_ = std::max(error_of(stddev_of(differences).value_or(0), blocks),
                                      std::hypot(value.least_error, reference.least_error));
  result.deviations_ = deviations_of(differences);
  return result;
}

interval contrast::ratio_range(double t) const {
  return {std::exp(log_ratio_ - t * error_), std::exp(log_ratio_ + t * error_)};
}

interval contrast::difference_range(double t) const {
  return {difference_ - t * difference_error_, difference_ + t * difference_error_};
}

double common_level(std::span<const contrast> contrasts) {
  constexpr double together = 0.05;
  std::vector<double> farthest;  // largest deviation by draw
  std::size_t moving = 0;
  for (const auto& contrast : contrasts) {
    const auto& deviations = contrast.deviations();
    if (deviations.empty()) continue;
    ++moving;
    farthest.resize(deviations.size());
    for (std::size_t i = 0; i < deviations.size(); ++i) {
      farthest[i] = std::max(farthest[i], std::abs(deviations[i]));
    }
  }
  if (moving <= 1) return together;
  const auto critical =
      farthest.begin() + static_cast<std::ptrdiff_t>(rank_of(1 - together, farthest.size()));
  std::nth_element(farthest.begin(), critical, farthest.end());
  const double level = std::erfc(*critical / std::numbers::sqrt2);
  const double independent = 1 - std::pow(1 - together, 1 / static_cast<double>(moving));
  return std::clamp(level, independent, together);
}

}  // namespace graphline
