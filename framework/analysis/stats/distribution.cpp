#include "framework/analysis/stats/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace graphline {

namespace {

// Sums deviations from a value of the sample to preserve the low digits of long durations.
double mean_around(const std::vector<nanoseconds>& values, nanoseconds pivot) {
  double sum = 0;
  for (const auto value : values) sum += static_cast<double>(value - pivot);
  return static_cast<double>(pivot) + sum / static_cast<double>(values.size());
}

std::optional<double> root_of_variance(double sum_of_squares, std::size_t count) {
  if (count < 2) return std::nullopt;
  return std::sqrt(sum_of_squares / static_cast<double>(count - 1));
}

}  // namespace

std::size_t samples_needed(double p) {
  constexpr double doubt = 0.05;
  return static_cast<std::size_t>(std::ceil(std::log(doubt) / std::log(p)));
}

std::size_t rank_of(double p, std::size_t count) {
  // 0.07 * 100 slightly exceeds 7 in binary; the factor prevents rounding such products up.
  constexpr double just_below_one = 1 - 1e-12;
  const double rank = std::ceil(p * static_cast<double>(count) * just_below_one);
  return static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
}

std::string percentile_name(double p) {
  return fmt::format("p{:.6g}", 100 * p);
}

std::optional<distribution> distribution::of(std::vector<nanoseconds> sample) {
  if (sample.empty()) return std::nullopt;
  std::sort(sample.begin(), sample.end());
  return distribution(std::move(sample));
}

distribution::distribution(std::vector<nanoseconds> sorted) : sorted_(std::move(sorted)) {
  mean_ = mean_around(sorted_, median());
  double squares = 0;
  for (const auto value : sorted_) {
    const double deviation = static_cast<double>(value) - mean_;
    squares += deviation * deviation;
  }
  stddev_ = root_of_variance(squares, sorted_.size());
}

std::optional<nanoseconds> distribution::percentile(double p) const {
  if (sorted_.size() < samples_needed(p) || !why_unsettled_.empty()) return std::nullopt;
  return sorted_[rank_of(p, sorted_.size())];
}

distribution distribution::unsettled(std::string why) && {
  why_unsettled_ = std::move(why);
  return std::move(*this);
}

std::span<const word<double>> percentiles_of_table(const distribution& of) {
  constexpr std::size_t many = 1000;
  const auto left_out = std::ranges::find_if(shown_percentiles, [&](const auto& one) {
    return samples_needed(one.second) > many && !of.percentile(one.second);
  });
  return {std::begin(shown_percentiles), left_out};
}

std::string why_absent(const distribution& of) {
  if (!of.why_unsettled().empty()) return of.why_unsettled();
  std::string missing;
  for (const auto& [name, p] : percentiles_of_table(of)) {
    if (of.percentile(p)) continue;
    missing += fmt::format("{}{} needs {}", missing.empty() ? "too few frames: " : ", ", name,
                           samples_needed(p));
  }
  return missing;
}

std::optional<double> p50_of(const std::optional<distribution>& times) {
  const auto p50 = times ? times->percentile(0.5) : std::nullopt;
  return p50 ? std::optional(static_cast<double>(*p50)) : std::nullopt;
}

nanoseconds lower_median(std::vector<nanoseconds> sample) {
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>((sample.size() - 1) / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  return *middle;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean_of(std::span<const double> values) noexcept {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> stddev_of(std::span<const double> values) noexcept {
  if (values.size() < 2) return std::nullopt;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return root_of_variance(squares, values.size());
}

}  // namespace graphline
