#include "framework/report/json/attribution_json.hpp"

#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// What has a figure for each group of frames.
template <class Figures>
json groups_json(const Figures& of) {
  return {{"mean", milliseconds(of.all)},
          {"typical", milliseconds(of.typical)},
          {"slowest", milliseconds(of.slowest)}};
}

json absent_groups(const attribution_summary& summary) {
  return {{"mean", nullptr},
          {"typical", nullptr},
          {"slowest", nullptr},
          {"why_absent", summary.why_no_queue}};
}

}  // namespace

json attribution_json(const run_record& record, const attribution_summary& summary) {
  const auto name_of = [&record](std::size_t stage) { return record.stages[stage].name; };
  json rows = json::array();
  for (const auto& row : summary.rows) {
    json entry = {{"what", to_word(row.what)},
                  {"stage", row.stage ? json(name_of(*row.stage)) : json()}};
    entry.update(groups_json(row));
    rows.push_back(std::move(entry));
  }
  json stages = json::array();
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const auto& stage = summary.stages[i];
    stages.push_back({{"name", name_of(i)},
                      {"on_path", milliseconds(stage.on_path)},
                      {"off_path", milliseconds(stage.off_path)},
                      {"share_of_frames", stage.share_of_frames}});
  }
  json critical = json::array();
  for (const auto stage : summary.bound_of_median.stages) critical.push_back(name_of(stage));
  auto residual = groups_json(summary.residual);
  residual["largest"] = milliseconds(summary.largest_residual);
  const bool queued = summary.why_no_queue.empty();
  json result = {{"unit", "ms"}, {"rows", std::move(rows)}, {"residual", std::move(residual)}};
  result["end_to_end"] = queued ? groups_json(summary.end_to_end) : absent_groups(summary);
  if (!queued) result["begin_to_end"] = groups_json(summary.end_to_end);
  result.update({{"typical_frames", summary.typical_frames.size()},
                 {"slowest_frames", summary.slowest_frames},
                 {"median_frame", summary.median_frame},
                 {"best_possible",
                  {{"achieved", milliseconds(summary.running)},
                   {"by_plan", ms_or_null(summary.bound)},
                   {"by_edges", ms_or_null(summary.bound_of_any)},
                   {"limited_by", to_word(summary.bound_of_median.by)},
                   {"path", std::move(critical)}}},
                 {"stages", std::move(stages)},
                 {"findings", attribution_findings(record, summary)}});
  return result;
}

}  // namespace graphline
