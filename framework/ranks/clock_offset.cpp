#include "framework/ranks/clock_offset.hpp"

#include <algorithm>
#include <cmath>

namespace graphline {
namespace {

nanoseconds travel_time(const round_trip& of) {
  return (of.answered - of.sent) - (of.returned - of.arrived);
}

}  // namespace

clock_offset offset_of(const std::vector<round_trip>& trips) {
  const round_trip& best = *std::ranges::min_element(trips, {}, travel_time);
  const nanoseconds low = best.returned - best.answered;
  const nanoseconds high = best.arrived - best.sent;
  return {best.arrived, low + (high - low) / 2, (high - low + 1) / 2};
}

clock_offset offset_at(nanoseconds at, const clock_offset& before, const clock_offset& after) {
  if (after.at <= before.at) return {at, before.offset, before.error};
  const auto from = static_cast<double>(before.at);
  const double part = (static_cast<double>(at) - from) / (static_cast<double>(after.at) - from);
  const auto between = [part](nanoseconds a, nanoseconds b) {
    return static_cast<double>(a) + part * (static_cast<double>(b) - static_cast<double>(a));
  };
  // Beyond the two, the ends of the interval move apart.
  const double error = std::abs(1 - part) * static_cast<double>(before.error) +
                       std::abs(part) * static_cast<double>(after.error);
  constexpr double most = 0x1p62;  // of damaged files
  return {at, std::llround(std::clamp(between(before.offset, after.offset), -most, most)),
          std::llround(std::min(std::ceil(error), most))};
}

}  // namespace graphline
