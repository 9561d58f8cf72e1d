#include "framework/analysis/analyze.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

namespace {

std::vector<percentile_interval> predicted_intervals(const prediction_record& of) {
  std::vector<percentile_interval> made;
  for (const auto& [name, p] : shown_percentiles) {
    const predicted_figure* const figure = figure_of(of, name);
    if (figure != nullptr)
      made.push_back({p, std::llround(figure->low), std::llround(figure->high)});
  }
  return made;
}

std::vector<percentile_interval> intervals_of(const run_record& record,
                                              const run_summary& summary) {
  if (!summary.end_to_end) return {};
  if (record.prediction) return predicted_intervals(*record.prediction);
  std::array<double, std::size(shown_percentiles)> percentiles;
  for (std::size_t i = 0; i < percentiles.size(); ++i) percentiles[i] = shown_percentiles[i].second;
  return percentile_intervals(end_to_end_times(record), *summary.end_to_end, percentiles);
}

}  // namespace

run_analysis analyze(const run_record& record) {
  auto summary = summarize(record);
  auto attribution =
      attribute(record, summary.end_to_end ? summary.end_to_end->why_unsettled() : "");
  auto roofline = evaluate_roofline(record, nullptr, attribution);
  auto intervals = intervals_of(record, summary);
  return {std::move(summary), std::move(intervals), std::move(attribution), std::move(roofline)};
}

roofline_analysis analyze(const roofline_record& record) {
  roofline_analysis result{
      summarize(record.stages), evaluate_roofline(record.stages, &record.layers), {}};
  if (result.roofline) result.findings = roofline_findings(record.stages, *result.roofline);
  const auto layers = summarize(record.layers);
  for (const auto& findings : {result.stages.findings, layers.findings}) {
    for (const auto& found : findings) {
      // Keep only one of two warnings that are equal or have the same key.
      const bool known = std::ranges::any_of(result.findings, [&](const finding& other) {
        return found == other || (!found.key.empty() && found.key == other.key);
      });
      if (found.how == finding_severity::warning && !known) result.findings.push_back(found);
    }
  }
  return result;
}

experiment_analysis analyze(const experiment_record& record, experiment_summary summary) {
  experiment_analysis result{std::move(summary), {}, {}};
  if (record.trials.empty()) return result;
  result.swept = sweep_of(record, result.summary);
  result.findings = findings_of(record, result.summary, result.swept);
  return result;
}

experiment_analysis analyze(const experiment_record& record) {
  return analyze(record, summarize(record));
}

capacity_analysis analyze(const capacity_record& record) {
  auto summary = summarize(record);
  auto findings = findings_of(summary, record.how);
  return {std::move(summary), std::move(findings)};
}

}  // namespace graphline
