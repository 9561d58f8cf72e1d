#include "framework/report/html/attribution_data.hpp"

#include <cmath>
#include <optional>

#include "framework/report/json/json_text.hpp"
#include "framework/report/sentences.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// To a thousandth of a nanosecond: means have no more to say, and fewer digits are a shorter page.
double rounded(double ns) {
  return std::round(ns * 1000) / 1000;
}

json rounded_or_null(const std::optional<double>& ns) {
  return ns ? json(rounded(*ns)) : json(nullptr);
}

/// What has a figure for each group of frames.
template <class Figures>
json groups_data(const Figures& of) {
  return {
      {"all", rounded(of.all)}, {"typical", rounded(of.typical)}, {"slowest", rounded(of.slowest)}};
}

}  // namespace

json attribution_data(const run_record& record, const attribution_summary& summary) {
  auto data = json::object();
  data["rows"] = json::array();
  for (const auto& row : summary.rows) {
    json entry = {{"what", to_word(row.what)}, {"stage", or_null(row.stage)}};
    entry.update(groups_data(row));
    data["rows"].push_back(std::move(entry));
  }
  data["end_to_end"] = groups_data(summary.end_to_end);
  if (!summary.why_no_queue.empty()) data["why_no_queue"] = summary.why_no_queue;
  data["residual"] = groups_data(summary.residual);
  data["largest_residual"] = summary.largest_residual;
  data["frames"] = {{"all", record.frames.size()},
                    {"typical", summary.typical_frames.size()},
                    {"slowest", summary.slowest_frames.size()}};
  data["clock_error"] = record.clock_error;
  data["stages"] = json::array();
  for (const auto& stage : summary.stages) {
    data["stages"].push_back({{"on_path", rounded(stage.on_path)},
                              {"off_path", rounded(stage.off_path)},
                              {"share_of_frames", stage.share_of_frames}});
  }
  data["running"] = rounded(summary.running);
  data["best_by_plan"] = rounded_or_null(summary.bound);
  data["best_by_edges"] = rounded_or_null(summary.bound_of_any);
  data["critical"] = summary.bound_of_median.stages;
  data["findings"] = json::array();
  for (const auto& found : attribution_findings(record, summary)) {
    data["findings"].push_back(report::sentence(found));
  }
  return data;
}

}  // namespace graphline
