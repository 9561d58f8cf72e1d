#include <algorithm>

#include "framework/analysis/experiment/sweep.hpp"
#include "framework/report/html/experiment_data_parts.hpp"
#include "framework/report/terminal/sweep_table.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

}  // namespace

json sweep_data(const experiment_source& from) {
  const auto swept = sweep_of(from.record, from.summary);
  if (!swept) return {};
  double most = 0;
  for (const auto& point : swept->points) most = std::max(most, point.time.value_or(0));
  const auto unit = unit_for(most);
  json points = json::array();
  for (const auto& point : swept->points) {
    points.push_back({{"value", point.value},
                      {"text", point.text},
                      {"intensity", or_null(point.intensity)},
                      {"time", or_null(point.time)},
                      {"least", swept->what ? or_null(point.least) : json()},
                      {"bound", point.by ? json(to_word(*point.by)) : json()},
                      {"ratio", or_null(point.ratio)}});
  }
  auto cells = cells_of(*swept);
  return {{"key", swept->key},
          {"title", sweep_title(*swept)},
          {"of_stages", swept->what.has_value()},
          {"unit", {{"name", unit.name}, {"ns", unit.nanoseconds}}},
          {"points", std::move(points)},
          {"headings", std::move(cells.headings)},
          {"rows", std::move(cells.rows)},
          {"notes", sweep_notes(*swept)}};
}

}  // namespace graphline
