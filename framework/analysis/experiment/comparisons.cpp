#include "framework/analysis/experiment/comparisons.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/overload.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

bool is_share(const comparison& of) {
  return of.figure == figure::late;
}

/// Comparisons with simultaneous intervals, and the contrasts that define the intervals.
struct family {
  block_count blocks;
  double margin;
  std::vector<comparison> comparisons = {};
  std::vector<std::size_t> judged = {};  // index of the comparison, by contrast
  std::vector<contrast> contrasts = {};

  void add(comparison next, const resampled_figure& value, const resampled_figure& reference) {
    const bool shares = is_share(next);
    // A ratio requires positive values.
    if (!shares && (value.value <= 0 || reference.value <= 0)) return;
    next.value = value.value;
    next.reference = reference.value;
    next.difference = value.value - reference.value;
    const auto needed = blocks_needed(blocks.ranks);
    const bool enough = blocks.blocks >= needed;
    if (!enough) next.more_trials = static_cast<std::int64_t>(needed - blocks.blocks);
    if (!shares) next.ratio = value.value / reference.value;
    comparisons.push_back(next);
    if (!enough) return;
    if (auto by = shares ? contrast::of_shares(value, reference, blocks)
                         : contrast::of(value, reference, blocks)) {
      judged.push_back(comparisons.size() - 1);
      contrasts.push_back(std::move(*by));
    }
  }

  /// Sets intervals and verdicts. Asks for pipelines with late frames if their latency grows.
  std::vector<comparison> take(
      const std::function<bool(const configuration_member&)>& latency_grows = {}) {
    if (contrasts.empty()) return std::move(comparisons);
    const double level = common_level(contrasts);
    const double t = student_t_critical(level, blocks.degrees_of_freedom());
    for (std::size_t i = 0; i < judged.size(); ++i) {
      comparison& to = comparisons[judged[i]];
      const contrast& by = contrasts[i];
      to.difference_range = by.difference_range(t);
      inconclusive_ratio open{by.log_ratio(), by.error(), level, margin};
      if (is_share(to)) {
        auto& [low, high] = *to.difference_range;
        low = std::max(low, -1.0);
        high = std::min(high, 1.0);
        const bool grows = latency_grows(to.pair.what);
        const bool reference_grows = latency_grows(to.pair.reference);
        to.verdict = verdict_of_late({low, high}, margin, grows, reference_grows);
        if (grows || reference_grows) continue;  // the verdict depends on the length of the trials
        open.log_ratio = by.difference();
        open.error = by.difference_error();
      } else {
        to.ratio_range = by.ratio_range(t);
        to.verdict = verdict_of(*to.ratio_range, margin, to.figure == figure::throughput);
      }
      if (to.verdict == verdict::inconclusive) to.more_trials = blocks_to_decide(open, blocks);
    }
    return std::move(comparisons);
  }
};

/// Returns true if `blocks` blocks would decide the ratio with a power of 80 %.
bool would_decide(const inconclusive_ratio& ratio, block_count blocks, block_count seen) {
  constexpr double power_quantile = 0.84;  // normal quantile of 80 %
  const double t = student_t_critical(ratio.level, blocks.degrees_of_freedom());
  const double reach =
      (t + power_quantile) * ratio.error *
      std::sqrt(static_cast<double>(seen.blocks) / static_cast<double>(blocks.blocks));
  const bool different = std::abs(ratio.log_ratio) > reach;
  const bool same = ratio.log_ratio + reach <= std::log1p(ratio.margin) &&
                    ratio.log_ratio - reach >= std::log1p(-ratio.margin);
  return different || same;
}

}  // namespace

sampled_blocks::sampled_blocks(std::vector<std::vector<std::size_t>> of, std::uint64_t seed)
    : by_rank(std::move(of)) {
  for (const auto& rank : by_rank) blocks += rank.size();
  const std::size_t count = blocks < blocks_needed(by_rank.size()) ? 0 : 2000;
  std::uint64_t of_draws = mix_seed(seed, seed_from("blocks"));
  for (const auto& rank : by_rank) {
    weights.push_back(static_cast<double>(rank.size()) / static_cast<double>(blocks));
    draws.emplace_back(rank.size(), count, of_draws);
    of_draws = mix_seed(of_draws, 1);
  }
}

std::optional<resampled_figure> sampled_blocks::percentile(
    const std::vector<std::vector<nanoseconds>>& times, double p) const {
  std::vector<resampled_figure> of_ranks;
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    const pooled_times pooled(of_rank(r, times));
    const std::size_t needed = by_rank.size() == 1 ? 1 : samples_needed(p);
    if (pooled.count() < needed) return std::nullopt;
    of_ranks.push_back(resample_percentile(pooled, p, draws[r]));
  }
  return of_ranks.size() == 1 ? of_ranks.front() : average_of_ranks(of_ranks, weights, false);
}

namespace {

/// Computes the metrics of runs of one rank. Each run is one block of the draws.
resampled_figures figures_of_rank(const std::vector<const run_record*>& runs, double tail,
                                  const block_draws& draws) {
  resampled_figures result;
  std::vector<std::vector<nanoseconds>> times;
  std::vector<double> frames;
  std::vector<double> seconds;
  bool took_time = true;
  std::vector<double> late;
  std::vector<double> decided;
  for (const auto* run : runs) {
    times.push_back(end_to_end_times(*run));
    if (run->run.deadline) {
      const auto misses = misses_of(*run, *run->run.deadline);
      late.push_back(static_cast<double>(misses.missed));
      decided.push_back(static_cast<double>(misses.frames));
    }
    const auto done = completions_of(*run);
    frames.push_back(done.count);
    seconds.push_back(1e-9 * done.time);
    took_time = took_time && seconds.back() > 0;
  }
  auto& [p50, slow, throughput, late_frames] = result.of;
  if (took_time) throughput = resample_ratio(frames, seconds, draws);
  if (late.size() == runs.size()) {
    late_frames = resample_ratio(late, decided, draws);
    late_frames->least_error = 1 / std::accumulate(decided.begin(), decided.end(), 0.0);
  }
  const auto overload = overload_of(runs);
  result.latency_grows = overload && overload->growth;
  if (result.latency_grows) return result;
  const pooled_times pooled(std::move(times));
  if (pooled.count() >= samples_needed(0.5)) p50 = resample_percentile(pooled, 0.5, draws);
  if (pooled.count() >= samples_needed(tail)) slow = resample_percentile(pooled, tail, draws);
  return result;
}

}  // namespace

resampled_figures figures_of(const std::vector<const run_record*>& runs, double tail,
                             const sampled_blocks& blocks) {
  std::vector<resampled_figures> of_ranks;
  for (std::size_t r = 0; r < blocks.by_rank.size(); ++r) {
    of_ranks.push_back(figures_of_rank(blocks.of_rank(r, runs), tail, blocks.draws[r]));
  }
  if (of_ranks.size() == 1) return std::move(of_ranks.front());
  resampled_figures result;
  result.latency_grows = std::ranges::any_of(of_ranks, &resampled_figures::latency_grows);
  for (std::size_t f = 0; f < all_figures.size(); ++f) {
    std::vector<resampled_figure> known;
    for (auto& rank : of_ranks) {
      if (rank.of[f]) known.push_back(std::move(*rank.of[f]));
    }
    if (known.size() < of_ranks.size()) continue;
    result.of[f] = average_of_ranks(known, blocks.weights, all_figures[f] == figure::late);
  }
  return result;
}

verdict verdict_of(const interval& ratio, double margin, bool more_is_faster) {
  if (ratio.low >= 1 - margin && ratio.high <= 1 + margin) return verdict::same;
  if (ratio.contains(1)) return verdict::inconclusive;
  return (ratio.low > 1) == more_is_faster ? verdict::faster : verdict::slower;
}

verdict verdict_of_late(const interval& difference, double margin, bool latency_grows,
                        bool latency_of_reference_grows) {
  const auto found = verdict_of({1 + difference.low, 1 + difference.high}, margin, false);
  const bool lasts = found == verdict::slower   ? !latency_of_reference_grows
                     : found == verdict::faster ? !latency_grows
                                                : !latency_grows && !latency_of_reference_grows;
  return lasts ? found : verdict::inconclusive;
}

std::optional<std::int64_t> blocks_to_decide(const inconclusive_ratio& ratio, block_count blocks) {
  const auto enough = [&](std::int64_t more) {
    const auto all = blocks.blocks + static_cast<std::size_t>(more);
    return would_decide(ratio, {all, blocks.ranks}, blocks);
  };
  if (!enough(most_more_trials)) return std::nullopt;
  return first_that(std::int64_t{1}, most_more_trials, enough);
}

std::vector<comparison> compare_figures(const counted_trials& trials,
                                        const experiment_record& record) {
  if (trials.blocks().empty()) return {};
  const sampled_blocks blocks(trials.by_rank(), record.how.seed);
  std::map<configuration_member, std::optional<resampled_figures>> known;
  const auto figures_by = [&](const configuration_member& member) -> const resampled_figures& {
    auto& found = known[member];
    if (!found) found = figures_of(trials.of(member), record.how.tail, blocks);
    return *found;
  };
  family all{blocks.count(), record.how.margin};
  for (const auto& pair : record.pairs) {
    const auto& values = figures_by(pair.what);
    const auto& references = figures_by(pair.reference);
    for (std::size_t f = 0; f < all_figures.size(); ++f) {
      const auto& value = values.of[f];
      const auto& reference = references.of[f];
      if (!value || !reference) continue;
      all.add({.pair = pair, .figure = all_figures[f]}, *value, *reference);
    }
  }
  return all.take(
      [&](const configuration_member& member) { return figures_by(member).latency_grows; });
}

std::vector<comparison> compare_stages(const counted_trials& trials,
                                       const experiment_record& record,
                                       const std::vector<configuration_summary>& summaries) {
  if (trials.blocks().empty()) return {};
  const sampled_blocks blocks(trials.by_rank(), record.how.seed);
  const auto summary_of = [&](const configuration_member& member) -> const member_summary& {
    return summaries[member.configuration].members[member.member];
  };
  std::map<std::pair<configuration_member, std::string>, std::optional<resampled_figure>> known;
  const auto p50_of =
      [&](const configuration_member& member,
          const member_summary::stage& stage) -> const std::optional<resampled_figure>& {
    const auto [at, is_new] = known.try_emplace({member, stage.name});
    if (is_new) {
      at->second = blocks.percentile(stage_times(trials.of(member), stage.name, *stage.what), 0.5);
    }
    return at->second;
  };
  family all{blocks.count(), record.how.margin};
  for (const auto& pair : record.pairs) {
    const auto& stages = summary_of(pair.what).stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (!stages[s].times) continue;
      for (const auto& reference : summary_of(pair.reference).stages) {
        // Do not compare launch times with execution times.
        const bool alike = reference.name == stages[s].name && reference.what == stages[s].what;
        if (!alike || !reference.times) continue;
        const auto& value = p50_of(pair.what, stages[s]);
        const auto& other = p50_of(pair.reference, reference);
        if (value && other) all.add({.pair = pair, .stage = s}, *value, *other);
      }
    }
  }
  return all.take();
}

std::vector<comparison> compare_chains(const counted_trials& trials,
                                       const experiment_record& record,
                                       const std::vector<chain_summary>& chains) {
  if (trials.blocks().empty()) return {};
  const sampled_blocks blocks(trials.by_rank(), record.how.seed);
  const auto resampled = [&](const chain_figures& from, figure of) {
    const double p = of == figure::tail ? record.how.tail : 0.5;
    const bool known = from.times && from.times->percentile(p);
    return known ? blocks.percentile(from.by_trial, p) : std::nullopt;
  };
  family all{blocks.count(), record.how.margin};
  for (const chain_summary& what : chains) {
    for (const chain_summary& reference : chains) {
      const auto pair = std::ranges::find_if(record.pairs, [&](const compared_pair& one) {
        return one.what.configuration == what.configuration &&
               one.reference.configuration == reference.configuration;
      });
      if (what.chain != reference.chain || pair == record.pairs.end()) continue;
      for (const auto times : {&chain_summary::age, &chain_summary::reaction}) {
        for (const auto of : {figure::p50, figure::tail}) {
          const auto value = resampled(what.*times, of);
          const auto other = resampled(reference.*times, of);
          if (!value || !other) continue;
          all.add({.pair = *pair, .figure = of, .chain = what.chain, .times = times}, *value,
                  *other);
        }
      }
    }
  }
  return all.take();
}

}  // namespace graphline
