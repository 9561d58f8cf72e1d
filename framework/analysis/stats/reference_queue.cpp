#include "framework/analysis/stats/reference_queue.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace graphline {
namespace {

/// Element n is the probability that at most n frames wait, for n <= `most` and `load` < 1.
std::vector<double> at_most_waiting(double load, std::size_t most) {
  const std::size_t states = most + 2;
  std::vector<double> more(states);  // P(more than j arrivals during a service)
  double arrive = std::exp(-load);   // P(exactly j arrivals)
  double sum = 0;
  for (std::size_t j = 0; j < states; ++j) {
    sum += arrive;
    more[j] = std::max(0.0, 1 - sum);
    arrive *= load / static_cast<double>(j + 1);
  }
  // In equilibrium, the number of frames rises above j as often as it falls back to j.
  std::vector<double> present = {1 - load};
  for (std::size_t j = 0; j + 1 < states; ++j) {
    double upward = present[0] * more[j];
    for (std::size_t i = 1; i <= j; ++i) upward += present[i] * more[j - i + 1];
    present.push_back(upward * std::exp(load));
  }
  std::vector<double> result;
  double total = present[0];
  for (std::size_t j = 1; j < states; ++j) result.push_back(total += present[j]);
  return result;
}

}  // namespace

double reference_queue::late_share(double rate, double limit) const {
  if (burst > 1) {
    constexpr std::int64_t most = 64;
    const auto frames = static_cast<double>(burst);
    const auto positions = static_cast<double>(std::min(burst, most));
    double late = 0;
    for (double i = 0.5; i < positions; ++i) {
      const double ahead = i * frames / positions - 0.5;  // frames of the burst before this one
      const double left = limit - ahead * service;
      late += left < 0 ? 1 : reference_queue{frames * service}.late_share(rate / frames, left);
    }
    return late / positions;
  }
  const double load = rate * service;
  if (load >= 1) return 1;
  const double wait = limit / service;
  const auto whole = static_cast<std::size_t>(wait) + 1;
  const auto waiting = at_most_waiting(load, whole - 1);
  const double arrivals = load * (static_cast<double>(whole) - wait);
  double term = std::exp(-arrivals);
  double in_time = 0;
  for (std::size_t j = 0; j < whole; ++j) {
    in_time += waiting[whole - 1 - j] * term;
    term *= arrivals / static_cast<double>(j + 1);
  }
  return std::clamp(1 - in_time, 0.0, 1.0);
}

double reference_queue::limit_for(double rate, double late) const {
  const double longest = 300 * service * static_cast<double>(std::max<std::int64_t>(burst, 1));
  double low = 0;
  double high = service;
  while (high < longest && late_share(rate, high) > late) {
    low = high;
    high = std::min(2 * high, longest);
  }
  constexpr int bisections = 30;
  for (int i = 0; i < bisections; ++i) {
    const double middle = (low + high) / 2;
    (late_share(rate, middle) > late ? low : high) = middle;
  }
  return high;
}

double reference_queue::late_share_of(std::span<const double> arrivals, double limit,
                                      std::size_t skipped) const {
  double wait = 0;
  std::size_t late = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (i > 0) wait = std::max(0.0, wait + service - (arrivals[i] - arrivals[i - 1]));
    if (i >= skipped && wait > limit) ++late;
  }
  return static_cast<double>(late) / static_cast<double>(arrivals.size() - skipped);
}

}  // namespace graphline
