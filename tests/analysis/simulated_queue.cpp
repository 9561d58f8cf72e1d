#include "tests/analysis/simulated_queue.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "framework/base/random.hpp"

namespace graphline::samples {
namespace {

double exponential(std::mt19937_64& generator, double mean) {
  return -std::log1p(-uniform_unit(generator)) * mean;
}

/// Box and Muller, "A note on the generation of random normal deviates", 1958.
double normal(std::mt19937_64& generator) {
  const double radius = std::sqrt(exponential(generator, 2));
  return radius * std::cos(2 * std::numbers::pi * uniform_unit(generator));
}

/// P(wait <= t) in M/D/1 with service time 1 and load `rho`.
double md1_waits_at_most(double t, double rho) {
  if (t < 0) return 0;
  double sum = 0;
  for (int j = 0; j <= static_cast<int>(t); ++j) {
    const double x = rho * (t - j);
    const double size = j == 0 ? 1 : std::exp(j * std::log(x) - std::lgamma(j + 1.0));
    sum += (j % 2 == 0 ? 1 : -1) * size * std::exp(x);
  }
  return (1 - rho) * sum;
}

}  // namespace

run_record simulated_queue::run(std::optional<double> rate, std::int64_t frames,
                                std::uint64_t seed) const {
  std::mt19937_64 arrivals(mix_seed(seed, 1));
  std::mt19937_64 services(mix_seed(seed, 2));
  std::mt19937_64 machine(mix_seed(seed, 3));
  const bool stalls_once = rate && uniform_unit(machine) < stalls;
  const auto stall_at =
      static_cast<std::int64_t>(uniform_unit(machine) * static_cast<double>(frames));
  const double stall = (20 + 40 * uniform_unit(machine)) * mean_service;
  run_record record;
  record.pipeline = "simulated";
  record.device.backend = "host";
  record.run.arrival = arrival;
  record.run.rate = rate;
  record.run.frames = frames;
  record.run.batch_frames = batch_frames;
  record.run.burst = burst;
  if (batch_wait > 0) record.run.batch_wait = std::llround(batch_wait);
  std::vector<double> due = {0};
  for (std::int64_t i = 1; i < frames; ++i) {
    const double mean = rate && i % burst == 0 ? static_cast<double>(burst) * 1e9 / *rate : 0;
    const bool random_gap = mean > 0 && arrival == graphline::arrival::poisson;
    const double gap = random_gap ? exponential(arrivals, mean) : mean;
    due.push_back(due.back() + gap);
  }
  double free = 0;
  for (std::size_t first = 0; first < due.size();) {
    const double slot = free;
    const auto full = first + static_cast<std::size_t>(batch_frames) - 1;
    double begin = std::max(due[first] + batch_wait, slot);
    if (full < due.size()) begin = std::min(begin, std::max(due[full], slot));
    auto next = first;
    while (next < due.size() && next <= full && due[next] <= begin) ++next;
    free = begin + (random ? exponential(services, mean_service) : mean_service);
    free += static_cast<double>(next - first - 1) * more;
    if (noise > 0) free += std::max(-1.0, noise * normal(services)) * mean_service;
    const auto at = static_cast<std::size_t>(stall_at);
    if (stalls_once && first <= at && at < next) free += stall;
    if (batch_frames > 1) {
      const double ready = std::max(due[first], slot);
      record.batches.push_back({static_cast<std::int32_t>(next - first), std::llround(ready)});
    }
    for (; first < next; ++first) {
      record.frames.push_back({std::llround(due[first]), std::llround(begin), std::llround(free)});
    }
  }
  return record;
}

double mm1_capacity(double mean_service, double p, double bound) {
  return 1e9 / mean_service + std::log(1 - p) * 1e9 / bound;
}

double md1_capacity(double service, double p, double bound, int burst) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double rho = (low + high) / 2;
    double in_time = 0;  // a frame waits for earlier arrivals and for `ahead` frames of its own
    for (int ahead = 0; ahead < burst; ++ahead) {
      in_time += md1_waits_at_most((bound / service - 1 - ahead) / burst, rho) / burst;
    }
    (in_time >= p ? low : high) = rho;
  }
  return low * 1e9 / service;
}

}  // namespace graphline::samples
