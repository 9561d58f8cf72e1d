#include "framework/analysis/experiment/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

/// The bootstrap's variance of a mean of n values is too small by (n - 1) / n.
double error_of(double spread, std::size_t blocks) {
  const auto n = static_cast<double>(blocks);
  return spread * std::sqrt(n / (n - 1));
}

}  // namespace

std::optional<contrast> contrast::of(const resampled_figure& value,
                                     const resampled_figure& reference, std::size_t blocks) {
  const auto usable = [](const resampled_figure& figure) {
    return figure.value > 0 && std::all_of(figure.draws.begin(), figure.draws.end(),
                                           [](double draw) { return draw > 0; });
  };
  if (!usable(value) || !usable(reference)) return std::nullopt;
  std::vector<double> logs(value.draws.size());
  std::vector<double> differences(value.draws.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] = std::log(value.draws[i] / reference.draws[i]);
    differences[i] = value.draws[i] - reference.draws[i];
  }
  const double mean = mean_of(logs);
  const double spread = stddev_of(logs).value_or(0);
  contrast result;
  result.log_ratio_ = std::log(value.value / reference.value);
  result.error_ = error_of(spread, blocks);
  result.difference_ = value.value - reference.value;
  result.difference_error_ = error_of(stddev_of(differences).value_or(0), blocks);
  // What rounding leaves of draws that are all alike is no deviation.
  if (spread > 1e-12) {
    for (const double log : logs) result.deviations_.push_back((log - mean) / spread);
  }
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
  std::vector<double> farthest;  // by draw
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
