#include "framework/analysis/stats/running_percentiles.hpp"

#include <algorithm>
#include <bit>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

namespace {

constexpr int steps_log2 = 8;
constexpr std::uint64_t steps = std::uint64_t{1} << steps_log2;
constexpr std::size_t bin_count = steps * (64 - steps_log2);

/// Durations below `steps` have a bin each; from each power of two on, bins are twice as wide.
std::size_t bin_of(std::uint64_t duration) noexcept {
  if (duration < steps) return duration;
  const int shift = static_cast<int>(std::bit_width(duration)) - 1 - steps_log2;
  return static_cast<std::size_t>(shift) * steps + (duration >> shift);
}

std::uint64_t middle_of(std::size_t bin) noexcept {
  if (bin < 2 * steps) return bin;
  const auto shift = bin / steps - 1;
  return ((bin - shift * steps) << shift) + ((std::uint64_t{1} << shift) >> 1);
}

}  // namespace

running_percentiles::running_percentiles() : bins_(bin_count) {}

void running_percentiles::add(nanoseconds duration) noexcept {
  const auto counted = std::max<nanoseconds>(0, duration);
  ++bins_[bin_of(static_cast<std::uint64_t>(counted))];
  ++count_;
  max_ = std::max(max_, counted);
}

std::optional<nanoseconds> running_percentiles::max() const noexcept {
  return count_ == 0 ? std::nullopt : std::optional(max_);
}

std::optional<nanoseconds> running_percentiles::percentile(double p) const {
  if (count_ < samples_needed(p)) return std::nullopt;
  std::uint64_t up_to = rank_of(p, count_) + 1;
  std::size_t bin = 0;
  while (bins_[bin] < up_to) up_to -= bins_[bin++];
  return std::min(max_, static_cast<nanoseconds>(middle_of(bin)));
}

}  // namespace graphline
