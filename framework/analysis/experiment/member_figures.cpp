#include "framework/analysis/experiment/member_figures.hpp"

#include <utility>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/base/random.hpp"

namespace graphline {

block_draws draws_for(std::size_t blocks, std::uint64_t seed) {
  constexpr std::size_t count = 2000;
  return {blocks, blocks < least_blocks ? 0 : count, mix_seed(seed, seed_from("blocks"))};
}

resampled_figures figures_of(const std::vector<const run_record*>& runs, double tail,
                             const block_draws& draws) {
  resampled_figures result;
  std::vector<std::vector<nanoseconds>> times;
  std::vector<double> frames;
  std::vector<double> seconds;
  bool took_time = true;
  for (const auto* run : runs) {
    times.push_back(end_to_end_times(*run));
    const auto done = completions_of(*run);
    frames.push_back(done.count);
    seconds.push_back(1e-9 * done.time);
    took_time = took_time && seconds.back() > 0;
  }
  const pooled_times pooled(std::move(times));
  if (pooled.count() >= samples_needed(0.5)) result[0] = resample_percentile(pooled, 0.5, draws);
  if (pooled.count() >= samples_needed(tail)) result[1] = resample_percentile(pooled, tail, draws);
  if (took_time) result[2] = resample_ratio(frames, seconds, draws);
  return result;
}

}  // namespace graphline
