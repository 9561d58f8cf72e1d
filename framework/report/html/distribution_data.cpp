#include "framework/report/html/distribution_data.hpp"

#include <algorithm>
#include <string>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/histogram.hpp"
#include "framework/analysis/stats/thinned_series.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// Points of all cumulative distributions together, and of one.
constexpr std::size_t most_points = 12'000;
constexpr std::size_t most_of_one = 400;
constexpr std::size_t least_of_one = 40;

json histogram_data(const histogram& bins) {
  return {{"begin", bins.begin},
          {"width", bins.width},
          {"counts", bins.counts},
          {"below", bins.below},
          {"beyond", bins.beyond}};
}

json marks_of(const distribution& times) {
  json marks = json::array();
  marks.push_back({"min", times.min()});
  for (const auto& [name, p] : shown_percentiles) {
    if (const auto value = times.percentile(p)) marks.push_back({name, *value});
  }
  marks.push_back({"max", times.max()});
  return marks;
}

/// The spread of a sample that is not empty.
json spread_of(std::string name, const char* what, std::vector<nanoseconds> sample,
               const distribution& times, std::size_t points) {
  json data = {{"name", std::move(name)}};
  if (what != nullptr) data["what"] = what;
  data["count"] = sample.size();
  data["histogram"] = histogram_data(*histogram_of(sample));
  json at = json::array();
  json counts = json::array();
  for (const auto& step : cumulative_steps(std::move(sample), points)) {
    at.push_back(step.time);
    counts.push_back(step.count);
  }
  data["times"] = std::move(at);
  data["counts"] = std::move(counts);
  data["marks"] = marks_of(times);
  return data;
}

std::size_t points_of_one(const run_summary& summary) {
  std::size_t curves = 2;
  for (const auto& stage : summary.stages) curves += stage.columns.size();
  return std::clamp(most_points / curves, least_of_one, most_of_one);
}

}  // namespace

json distribution_data(const run_record& record, const run_summary& summary) {
  if (!summary.end_to_end) return {};
  const auto points = points_of_one(summary);
  json list = json::array();
  list.push_back(
      spread_of("end to end", nullptr, end_to_end_times(record), *summary.end_to_end, most_of_one));
  if (summary.load && summary.load->queue_wait) {
    list.push_back(spread_of("from due to begin", nullptr, queue_wait_times(record),
                             *summary.load->queue_wait, most_of_one));
  }
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    for (const auto& [what, times] : summary.stages[i].columns) {
      if (!times) continue;
      list.push_back(spread_of(record.stages[i].name, std::string(short_name(what)).c_str(),
                               times_of(record.stages[i], what), *times, points));
    }
  }
  json data = {{"of", std::move(list)}};
  if (record.run.deadline) data["deadline"] = *record.run.deadline;
  return data;
}

}  // namespace graphline
