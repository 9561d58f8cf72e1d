#include "framework/analysis/experiment/validation_summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

namespace {

constexpr double margin = 0.05;
constexpr double margin_of_p95 = 0.1;
/// Runs that differ by more among themselves agree with no prediction.
constexpr double most_spread = 0.25;

struct run_values {
  std::string why_unsettled;
  /// Mean, p50, p95 and throughput, then the mean time of each stage; empty if unknown.
  std::vector<std::optional<double>> list;
};

run_values values_of(const run_record& run, const std::vector<stage_record>& stages) {
  const run_summary summary = summarize(run);
  run_values made;
  const auto& times = summary.end_to_end;
  if (times) made.why_unsettled = times->why_unsettled();
  const bool settled = times && made.why_unsettled.empty();
  const auto p95 = times ? times->percentile(0.95) : std::nullopt;
  made.list = {settled ? std::optional(times->mean()) : std::nullopt, p50_of(times),
               p95 ? std::optional(static_cast<double>(*p95)) : std::nullopt, summary.throughput};
  for (const stage_record& stage : stages) {
    auto& mean = made.list.emplace_back();
    const auto same = std::ranges::find(run.stages, stage.name, &stage_record::name);
    if (same == run.stages.end()) continue;
    const auto& of = summary.stages[static_cast<std::size_t>(same - run.stages.begin())];
    if (!of.columns.empty() && of.columns.front().times) mean = of.columns.front().times->mean();
  }
  return made;
}

interval change_within(double log_ratio, double distance) {
  return {std::expm1(log_ratio - distance), std::expm1(log_ratio + distance)};
}

/// Compares a value of the rounds, which `at` selects. Without `within`, there is no verdict.
validated_figure compare_rounds(const std::vector<std::pair<run_values, run_values>>& rounds,
                                std::size_t at, validated_figure made,
                                std::optional<double> within = {}) {
  std::vector<double> measured;
  std::vector<double> predicted;
  std::vector<double> logs;  // of the measured values
  std::vector<double> log_ratios;
  for (const auto& [real, virtual_run] : rounds) {
    if (!real.list[at] || !virtual_run.list[at]) return made;
    measured.push_back(*real.list[at]);
    predicted.push_back(*virtual_run.list[at]);
    logs.push_back(std::log(measured.back()));
    log_ratios.push_back(std::log(predicted.back()) - logs.back());
  }
  made.measured = median_of(measured);
  made.predicted = median_of(predicted);
  if (std::ranges::min(measured) <= 0 || std::ranges::min(predicted) <= 0) return made;
  const double mean = mean_of(log_ratios);
  made.error = std::expm1(mean);
  if (rounds.size() < 2) return made;
  const double t = student_t_critical(0.05, rounds.size() - 1);
  const double count = static_cast<double>(rounds.size());
  const auto range = change_within(mean, t * *stddev_of(log_ratios) / std::sqrt(count));
  made.error_range = range;
  made.spread = change_within(0, t * *stddev_of(logs) * std::numbers::sqrt2);
  if (!within) return made;
  const interval allowed{std::min(-*within, made.spread->low),
                         std::max(*within, made.spread->high)};
  const bool inside = allowed.contains(range.low) && allowed.contains(range.high);
  const bool outside = range.low > allowed.high || range.high < allowed.low;
  made.verdict = inside && allowed.high <= most_spread ? agreement::agrees
                 : outside                             ? agreement::differs
                                                       : agreement::cannot_tell;
  return made;
}

/// Adds a run's mean times per frame to the pieces. `column`: member that receives them.
void add_pieces(validation_summary& to, const run_record& run, double validated_piece::*column,
                double rounds) {
  const auto found = attribute(run, to.why_no_queue);
  if (!found) return;
  to.whole.*column += found->end_to_end.all / rounds;
  for (const attribution_row& row : found->rows) {
    const std::string stage = row.stage ? run.stages[*row.stage].name : "";
    auto piece = std::ranges::find_if(
        to.pieces, [&](const auto& x) { return x.what == row.what && x.stage == stage; });
    if (piece == to.pieces.end()) piece = to.pieces.insert(piece, {stage, row.what});
    (*piece).*column += row.all / rounds;
  }
}

}  // namespace

validation_summary analyze(const validation_record& record) {
  validation_summary made;
  if (record.rounds.empty()) return made;
  const auto& stages = record.rounds.front().measured.stages;
  std::vector<std::pair<run_values, run_values>> rounds;
  for (const auto& [measured, predicted] : record.rounds) {
    rounds.emplace_back(values_of(measured, stages), values_of(predicted, stages));
    for (const auto& why : {rounds.back().first.why_unsettled, rounds.back().second.why_unsettled})
      if (made.why_no_queue.empty()) made.why_no_queue = why;
  }
  made.figures = {compare_rounds(rounds, 0, {"mean"}, margin),
                  compare_rounds(rounds, 1, {"p50"}, margin),
                  compare_rounds(rounds, 2, {"p95"}, margin_of_p95),
                  compare_rounds(rounds, 3, {"throughput", unit::frames_per_second}, margin)};
  for (std::size_t s = 0; s < stages.size(); ++s) {
    made.stages.push_back(compare_rounds(rounds, 4 + s, {stages[s].name}));
  }
  const auto count = static_cast<double>(rounds.size());
  for (const auto& [measured, predicted] : record.rounds) {
    add_pieces(made, measured, &validated_piece::measured, count);
    add_pieces(made, predicted, &validated_piece::predicted, count);
  }
  std::ranges::stable_sort(made.pieces, std::greater<>(),
                           [](const auto& piece) { return std::abs(piece.difference()); });
  return made;
}

}  // namespace graphline
