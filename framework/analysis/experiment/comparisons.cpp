#include "framework/analysis/experiment/comparisons.hpp"

#include <map>
#include <optional>
#include <utility>

#include "framework/analysis/experiment/contrast.hpp"
#include "framework/analysis/experiment/member_figures.hpp"
#include "framework/analysis/experiment/member_summary.hpp"
#include "framework/analysis/experiment/verdicts.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {
namespace {

using member_key = std::pair<std::size_t, std::size_t>;

member_key key_of(const configuration_member& member) {
  return {member.configuration, member.member};
}

/// Comparisons that hold together, and what resampling says of those that have an interval.
template <class Comparison>
struct family {
  std::vector<Comparison> comparisons;
  std::vector<std::size_t> judged;  // indices of comparisons, one for each contrast
  std::vector<contrast> contrasts;

  void add(Comparison comparison, const resampled_figure& value, const resampled_figure& reference,
           std::size_t blocks) {
    // Without a time above 0 there is no ratio.
    if (value.value <= 0 || reference.value <= 0) return;
    comparison.difference = value.value - reference.value;
    comparison.ratio = value.value / reference.value;
    comparisons.push_back(comparison);
    if (blocks < least_blocks) return;
    if (auto by = contrast::of(value, reference, blocks)) {
      judged.push_back(comparisons.size() - 1);
      contrasts.push_back(std::move(*by));
    }
  }
};

}  // namespace

std::vector<comparison> compare_figures(const counted_trials& trials,
                                        const experiment_record& record) {
  const std::size_t blocks = trials.blocks().size();
  if (blocks == 0) return {};
  const auto draws = draws_for(blocks, record.how.seed);
  std::map<member_key, resampled_figures> known;
  const auto figures_by = [&](const configuration_member& member) -> const resampled_figures& {
    const auto found = known.find(key_of(member));
    if (found != known.end()) return found->second;
    return known.emplace(key_of(member), figures_of(trials.of(member), record.how.tail, draws))
        .first->second;
  };
  family<comparison> all;
  for (const auto& pair : record.pairs) {
    const auto& values = figures_by(pair.what);
    const auto& references = figures_by(pair.reference);
    for (std::size_t f = 0; f < all_figures.size(); ++f) {
      if (!values[f] || !references[f]) continue;
      comparison next;
      next.pair = pair;
      next.figure = all_figures[f];
      next.value = values[f]->value;
      next.reference = references[f]->value;
      if (blocks < least_blocks) {
        next.more_trials = static_cast<std::int64_t>(least_blocks - blocks);
      }
      all.add(std::move(next), *values[f], *references[f], blocks);
    }
  }
  if (all.contrasts.empty()) return std::move(all.comparisons);
  const double level = common_level(all.contrasts);
  const double t = student_t_critical(level, blocks - 1);
  for (std::size_t i = 0; i < all.judged.size(); ++i) {
    const auto& by = all.contrasts[i];
    auto& to = all.comparisons[all.judged[i]];
    to.ratio_range = by.ratio_range(t);
    to.difference_range = by.difference_range(t);
    to.verdict = verdict_of(*to.ratio_range, record.how.margin, to.figure == figure::throughput);
    if (to.verdict != verdict::inconclusive) continue;
    to.more_trials =
        blocks_to_decide({by.log_ratio(), by.error(), level, record.how.margin}, blocks);
  }
  return std::move(all.comparisons);
}

std::vector<stage_comparison> compare_stages(const counted_trials& trials,
                                             const experiment_record& record,
                                             const std::vector<configuration_summary>& summaries) {
  const std::size_t blocks = trials.blocks().size();
  if (blocks == 0) return {};
  const auto draws = draws_for(blocks, record.how.seed);
  const auto summary_of = [&](const configuration_member& member) -> const member_summary& {
    return summaries[member.configuration].members[member.member];
  };
  std::map<std::pair<member_key, std::string>, resampled_figure> known;
  const auto p50_of = [&](const configuration_member& member,
                          const member_summary::stage& stage) -> const resampled_figure& {
    const std::pair key{key_of(member), stage.name};
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    std::vector<std::vector<nanoseconds>> times;
    for (const auto* run : trials.of(member)) {
      const auto* measured = find_stage(*run, stage.name);
      times.push_back(measured == nullptr ? std::vector<nanoseconds>()
                                          : times_of(*measured, *stage.what));
    }
    return known.emplace(key, resample_percentile(pooled_times(std::move(times)), 0.5, draws))
        .first->second;
  };
  family<stage_comparison> all;
  for (const auto& pair : record.pairs) {
    const auto& stages = summary_of(pair.what).stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (!stages[s].times) continue;
      for (const auto& reference : summary_of(pair.reference).stages) {
        // A launch is not to be compared with what was launched.
        const bool alike = reference.name == stages[s].name && reference.what == stages[s].what;
        if (!alike || !reference.times) continue;
        stage_comparison next;
        next.pair = pair;
        next.stage = s;
        all.add(std::move(next), p50_of(pair.what, stages[s]), p50_of(pair.reference, reference),
                blocks);
      }
    }
  }
  if (all.contrasts.empty()) return std::move(all.comparisons);
  const double t = student_t_critical(common_level(all.contrasts), blocks - 1);
  for (std::size_t i = 0; i < all.judged.size(); ++i) {
    auto& to = all.comparisons[all.judged[i]];
    to.ratio_range = all.contrasts[i].ratio_range(t);
    to.verdict = verdict_of(*to.ratio_range, record.how.margin, false);
  }
  return std::move(all.comparisons);
}

}  // namespace graphline
