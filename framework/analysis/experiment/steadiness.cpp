#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/stats/confidence.hpp"

namespace graphline {
namespace {

/// Returns the references that are not compared with another reference, because a compared
/// configuration must not affect which blocks count. Returns all configurations if there are none.
std::vector<configuration_member> references_of(const experiment_record& record) {
  std::vector<configuration_member> found;
  for (const auto& pair : record.pairs) {
    const bool compared = std::any_of(record.pairs.begin(), record.pairs.end(),
                                      [&](const auto& p) { return p.what == pair.reference; });
    if (!compared && std::find(found.begin(), found.end(), pair.reference) == found.end()) {
      found.push_back(pair.reference);
    }
  }
  return found.empty() ? experiment_labels(record.configurations).all() : found;
}

/// Returns log(p50) of each block minus the median over the blocks of its rank; empty if a p50 is
/// not positive.
std::vector<double> levels_of(const std::vector<const run_record*>& runs,
                              const std::vector<std::vector<std::size_t>>& by_rank) {
  std::vector<double> logs;
  for (const auto* run : runs) {
    const auto median = lower_median(end_to_end_times(*run));
    if (median <= 0) return {};
    logs.push_back(std::log(static_cast<double>(median)));
  }
  for (const auto& rank : by_rank) {
    std::vector<double> own;
    for (const std::size_t b : rank) own.push_back(logs[b]);
    const double usual = median_of(std::move(own));
    for (const std::size_t b : rank) logs[b] -= usual;
  }
  return logs;
}

/// Returns the positions of the blocks of ranks with enough of them: among few, centering makes
/// some equal to the median, and others seem far from it.
std::vector<std::size_t> judged_blocks(const counted_trials& trials) {
  std::vector<std::size_t> judged;
  for (const auto& rank : trials.by_rank()) {
    if (rank.size() >= least_blocks) judged.insert(judged.end(), rank.begin(), rank.end());
  }
  std::ranges::sort(judged);
  return judged;
}

/// Returns the median level over the references, by block.
std::vector<double> block_levels(const counted_trials& trials, const experiment_record& record) {
  if (trials.blocks().empty()) return {};
  std::vector<std::vector<double>> by_block(trials.blocks().size());
  for (const auto& reference : references_of(record)) {
    const auto levels = levels_of(trials.of(reference), trials.by_rank());
    for (std::size_t b = 0; b < levels.size(); ++b) by_block[b].push_back(levels[b]);
  }
  std::vector<double> result;
  for (auto& levels : by_block) {
    if (!levels.empty()) result.push_back(median_of(std::move(levels)));
  }
  return result;
}

/// Removes a linear trend, then subtracts from each value the median of the nine values around it
/// (at the ends, the nearest nine). The median removes curved drift and tolerates four outliers.
std::vector<double> apart_from_neighbors(std::vector<double> levels, double change) {
  const double step = change / static_cast<double>(levels.size() - 1);
  for (std::size_t b = 0; b < levels.size(); ++b) levels[b] -= static_cast<double>(b) * step;
  const std::size_t window = std::min<std::size_t>(9, levels.size());
  std::vector<double> result;
  for (std::size_t b = 0; b < levels.size(); ++b) {
    const std::size_t first = std::min(b - std::min(b, window / 2), levels.size() - window);
    const auto begin = levels.begin() + static_cast<std::ptrdiff_t>(first);
    result.push_back(levels[b] - median_of({begin, begin + static_cast<std::ptrdiff_t>(window)}));
  }
  return result;
}

/// Estimates the standard deviation of the block levels from the steps between neighbors. The
/// median magnitude of the steps is insensitive to drift and single outliers. For normal values,
/// the standard deviation of the steps is 1.4826 times this median and sqrt(2) times that of the
/// levels.
double spread_between_neighbors(const std::vector<double>& levels) {
  std::vector<double> steps;
  for (std::size_t b = 1; b < levels.size(); ++b) {
    steps.push_back(std::abs(levels[b] - levels[b - 1]));
  }
  return 1.4826 * median_of(std::move(steps)) / std::numbers::sqrt2;
}

}  // namespace

steadiness steadiness_of(const experiment_record& record) {
  steadiness result;
  if (record.prediction) return result;  // a virtual machine has no noise
  const counted_trials trials(record);
  result.stood_still_blocks = trials.stood_still_blocks();
  const auto judged = judged_blocks(trials);
  if (judged.empty()) return result;
  const auto all = block_levels(trials, record);
  if (all.empty()) return result;
  std::vector<double> levels;
  for (const std::size_t b : judged) levels.push_back(all[b]);
  const auto change = change_over(levels);
  if (change && std::abs(*change) > std::log1p(record.how.margin)) {
    result.drift = std::expm1(*change);
  }
  const auto apart = apart_from_neighbors(levels, change.value_or(0));
  const double limit = std::max(6 * spread_between_neighbors(levels), 3 * record.how.margin);
  for (std::size_t b = 0; b < apart.size(); ++b) {
    if (std::abs(apart[b]) > limit) result.affected_blocks.push_back(trials.blocks()[judged[b]]);
  }
  return result;
}

}  // namespace graphline
