#include "framework/analysis/stats/percentile_interval.hpp"

#include <algorithm>
#include <cmath>

#include "framework/analysis/stats/confidence.hpp"

namespace graphline {
namespace {

/// Autocovariances of a series, computed on demand.
class autocovariance {
 public:
  explicit autocovariance(std::span<const double> series)
      : deviations_(series.begin(), series.end()) {
    const double mean = mean_of(series);
    for (double& value : deviations_) value -= mean;
  }

  double at(std::size_t lag) {
    while (known_.size() <= lag) {
      const std::size_t next = known_.size();
      double sum = 0;
      for (std::size_t i = next; i < deviations_.size(); ++i) {
        sum += deviations_[i] * deviations_[i - next];
      }
      known_.push_back(sum / static_cast<double>(deviations_.size()));
    }
    return known_[lag];
  }

 private:
  std::vector<double> deviations_;
  std::vector<double> known_;
};

/// Returns the last lag, at least 1, with a significant autocorrelation. Ends the search after a
/// few insignificant lags.
std::size_t reach_of(autocovariance& of, std::size_t count, std::size_t most) {
  const double log_count = std::log10(static_cast<double>(count));
  const double chance = 2 * std::sqrt(log_count / static_cast<double>(count));
  const auto enough =
      std::max<std::size_t>(5, static_cast<std::size_t>(std::ceil(std::sqrt(log_count))));
  std::size_t last = 0;
  for (std::size_t lag = 1; lag <= most && lag - last <= enough; ++lag) {
    if (std::abs(of.at(lag)) >= chance * of.at(0)) last = lag;
  }
  return std::max<std::size_t>(last, 1);
}

/// Returns the means of groups of neighbors; drops an incomplete last group.
std::vector<double> means_of_groups(std::span<const double> series, std::size_t group) {
  std::vector<double> means;
  means.reserve(series.size() / group);
  for (; series.size() >= group; series = series.subspan(group)) {
    means.push_back(mean_of(series.first(group)));
  }
  return means;
}

std::vector<double> at_most(std::span<const nanoseconds> times, nanoseconds limit) {
  std::vector<double> result;
  result.reserve(times.size());
  for (const auto time : times) result.push_back(time <= limit ? 1 : 0);
  return result;
}

/// Returns the variance of the mean under the circular block bootstrap, times the series' length.
/// This is the mean of (block sum)^2 / `length` over all blocks. A block begins at each value.
double block_variance(std::span<const double> series, std::size_t length) {
  const double mean = mean_of(series);
  const std::size_t count = series.size();
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += series[i] - mean;
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    squares += sum * sum;
    sum += series[(i + length) % count] - series[i];
  }
  return squares / static_cast<double>(count) / static_cast<double>(length);
}

/// Returns the effective sample size for the fraction of ones in the series.
double effective_count(std::span<const double> ones, std::size_t length) {
  const auto count = static_cast<double>(ones.size());
  const double share = mean_of(ones);
  const double independent = share * (1 - share);
  const double effect = independent > 0 ? block_variance(ones, length) / independent : 1;
  const auto blocks = static_cast<std::size_t>(count / static_cast<double>(length));
  const double widened =
      student_t_critical(0.05, std::max<std::size_t>(blocks, 2) - 1) / normal_critical(0.05);
  return count / std::max(1.0, effect * widened * widened);
}

}  // namespace

double automatic_block_length(std::span<const double> series) {
  const std::size_t count = series.size();
  if (count < 2) return 1;
  constexpr std::size_t most_values = 100'000;
  if (const std::size_t group = (count + most_values - 1) / most_values; group > 1) {
    return static_cast<double>(group) * automatic_block_length(means_of_groups(series, group));
  }
  autocovariance covariance(series);
  if (!(covariance.at(0) > 0)) return 1;
  const double root = std::sqrt(static_cast<double>(count));
  const auto most = std::min(count - 1, static_cast<std::size_t>(std::ceil(root)) + 5);
  const std::size_t width = std::min(2 * reach_of(covariance, count, most), most);
  double density = covariance.at(0);  // spectral density at frequency zero
  double slope = 0;
  for (std::size_t lag = 1; lag <= width; ++lag) {
    // Flat-top window of Politis and Romano.
    const double part = static_cast<double>(lag) / static_cast<double>(width);
    const double weight = 2 * std::min(1.0, 2 * (1 - part)) * covariance.at(lag);
    density += weight;
    slope += static_cast<double>(lag) * weight;
  }
  const double most_length = std::ceil(std::min(3 * root, static_cast<double>(count) / 3));
  if (!(density * density > 0)) return most_length;
  const double length =
      std::cbrt(1.5 * slope * slope / (density * density) * static_cast<double>(count));
  return std::clamp(length, 1.0, most_length);
}

std::vector<percentile_interval> percentile_intervals(std::span<const nanoseconds> in_order,
                                                      const distribution& sorted,
                                                      std::span<const double> percentiles) {
  std::vector<percentile_interval> result;
  std::vector<std::vector<double>> below;
  for (const double p : percentiles) {
    const auto value = sorted.percentile(p);
    if (!value) continue;
    result.push_back({p, {}, {}});
    below.push_back(at_most(in_order, *value));
  }
  if (result.empty()) return result;
  double longest = automatic_block_length(std::vector<double>(in_order.begin(), in_order.end()));
  for (const auto& ones : below) longest = std::max(longest, automatic_block_length(ones));
  const auto length = std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(longest)), 1,
                                              std::max<std::size_t>(in_order.size() / 5, 1));
  const auto all = sorted.sorted();
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto count = static_cast<std::size_t>(effective_count(below[i], length));
    const auto [low, high] = interval_ranks(result[i].p, count, all.size());
    if (low > 0) result[i].low = all[low - 1];
    if (high > 0) result[i].high = all[high - 1];
  }
  return result;
}

}  // namespace graphline
