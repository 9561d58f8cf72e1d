#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/thinned_series.hpp"
#include "framework/report/html/experiment_data_parts.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// [[name, cell]...] from the shortest to the longest, as far as the frames carry them.
json percentiles_data(const distribution& times, time_unit unit) {
  const auto cell = [&](std::optional<nanoseconds> time) {
    return in_unit(time ? std::optional(static_cast<double>(*time)) : std::nullopt, unit);
  };
  json list = json::array();
  list.push_back({"min", cell(times.min())});
  for (const auto& [name, p] : shown_percentiles) {
    list.push_back({name, cell(times.percentile(p))});
  }
  list.push_back({"max", cell(times.max())});
  return list;
}

}  // namespace

json distribution_data(const experiment_source& from) {
  json list = json::array();
  for (const auto& member : from.rows.members()) {
    const auto& times = from.of(member).end_to_end;
    if (!times) continue;
    json points = json::array();
    for (const auto& [time, count] :
         cumulative_steps({times->sorted().begin(), times->sorted().end()}, most_steps)) {
      points.push_back({time, count});
    }
    list.push_back({{"who", from.place_of(member)},
                    {"count", times->count()},
                    {"percentiles", percentiles_data(*times, from.unit)},
                    {"points", std::move(points)}});
  }
  return list;
}

}  // namespace graphline
