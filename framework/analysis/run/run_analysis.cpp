#include "framework/analysis/run/run_analysis.hpp"

#include <array>
#include <iterator>
#include <utility>

#include "framework/analysis/stats/shown_percentiles.hpp"

namespace graphline {

namespace {

std::vector<percentile_interval> intervals_of(const run_record& record,
                                              const run_summary& summary) {
  if (!summary.end_to_end) return {};
  std::array<double, std::size(shown_percentiles)> percentiles;
  for (std::size_t i = 0; i < percentiles.size(); ++i) percentiles[i] = shown_percentiles[i].second;
  return percentile_intervals(end_to_end_times(record), *summary.end_to_end, percentiles);
}

}  // namespace

run_analysis analyse(const run_record& record) {
  auto summary = summarize(record);
  auto attribution =
      attribute(record, summary.end_to_end ? summary.end_to_end->why_unsettled() : "");
  auto roofline = hold_against_roofline(record, nullptr, attribution);
  auto intervals = intervals_of(record, summary);
  return {std::move(summary), std::move(intervals), std::move(attribution), std::move(roofline)};
}

}  // namespace graphline
