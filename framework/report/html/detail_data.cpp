#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/run/operations.hpp"
#include "framework/base/quantity.hpp"
#include "framework/report/html/summary_data.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

json part_rows(const run_record& record, std::size_t s, const stage_summary& summary,
               const floors& held, time_unit unit) {
  const auto& stage = record.stages[s];
  json rows = json::array();
  for (std::size_t i = 0; i < stage.parts.size(); ++i) {
    const auto& [times, share] = summary.parts[i];
    const auto p50 = times ? times->percentile(0.5) : std::nullopt;
    rows.push_back(
        {{"name", stage.parts[i].name},
         {"by", stage.parts[i].choice},
         {"p50", in_unit(p50 ? std::optional(static_cast<double>(*p50)) : std::nullopt, unit)},
         {"share", share ? three_digits(100 * *share, 2) : "-"},
         {"part", share ? json(*share) : json()}});
    const auto* floor = held.any_part(s) ? held.of_part(s, i) : nullptr;
    if (floor == nullptr || !floor->roofline_time) continue;
    rows.back()["least"] = in_unit(floor->roofline_time, unit);
    rows.back()["ratio"] = ratio_cell(floor);
  }
  return rows;
}

json parts_of(const run_record& record, const run_summary& summary, const floors& held) {
  json list = json::array();
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    double most = 0;
    for (const auto& part : summary.stages[i].parts) {
      if (part.times) most = std::max(most, part.times->mean());
    }
    if (most == 0) continue;
    const auto unit = unit_for(most);
    list.push_back({{"stage", record.stages[i].name},
                    {"unit", unit.name},
                    {"rows", part_rows(record, i, summary.stages[i], held, unit)}});
  }
  return list;
}

json operations_data(const run_record& record) {
  std::int64_t runs = 0;
  json rows = json::array();
  for (const auto& stage : record.stages) {
    runs = std::max(runs, stage.traced_runs);
    for (const auto& operation : operations_of(stage)) {
      rows.push_back({stage.name, operation.name, fmt::format("{:g}", operation.calls),
                      in_unit(static_cast<double>(operation.median), microsecond),
                      in_unit(static_cast<double>(operation.together), microsecond)});
    }
  }
  if (runs == 0) return {};
  return {{"runs", runs}, {"rows", std::move(rows)}};
}

}  // namespace

json detail_data(const run_record& record, const run_summary& summary, const floors& held) {
  json data = json::object();
  if (auto parts = parts_of(record, summary, held); !parts.empty())
    data["parts"] = std::move(parts);
  if (auto traced = operations_data(record); !traced.is_null()) {
    data["operations"] = std::move(traced);
  }
  return data;
}

}  // namespace graphline
