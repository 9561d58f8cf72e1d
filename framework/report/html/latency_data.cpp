#include "framework/report/html/latency_data.hpp"

#include <algorithm>
#include <string>

#include "framework/analysis/stats/thinned_series.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_frames = 2000;  ///< of the end-to-end times
/// Of all stages together, and of one.
constexpr std::size_t most_points = 16'000;
constexpr std::size_t most_of_one = 1200;
constexpr std::size_t least_of_one = 60;

constexpr std::size_t median_points = 300;
constexpr std::size_t most_dropped = 400;  ///< places at which frames were dropped

json series(std::string name, const std::vector<nanoseconds>& times, std::size_t most) {
  const auto frames = thinned_series(times, most);
  json shown = json::array();
  for (const auto frame : frames) shown.push_back(times[frame]);
  return {{"name", std::move(name)}, {"frames", frames}, {"times", std::move(shown)}};
}

/// Over a twentieth of the frames on either side, at least 5 and at most 500; too few frames have
/// none, and none stands where there are not as many on both sides.
json median_data(const std::vector<nanoseconds>& times) {
  constexpr std::size_t least_reach = 5;
  constexpr std::size_t most_reach = 500;
  if (times.size() < 4 * least_reach) return {};
  const auto reach = std::clamp(times.size() / 20, least_reach, most_reach);
  auto at = evenly_spread(times.size() - 2 * reach, median_points);
  for (auto& frame : at) frame += reach;
  return {{"reach", reach}, {"frames", at}, {"times", rolling_medians(times, at, reach)}};
}

/// A row for each frame, or for each of as many stretches as a person would look through.
json rows_of(const std::vector<nanoseconds>& times) {
  constexpr std::size_t most_rows = 200;
  constexpr std::size_t most_stretches = 100;
  json rows = json::array();
  const auto most = times.size() <= most_rows ? most_rows : most_stretches;
  for (const auto& s : stretches_of(times, most)) {
    rows.push_back({s.first, s.last, s.shortest, s.median, s.longest, s.longest_at});
  }
  return rows;
}

/// Dropped frames by the frame that was the next to be carried out; neighbours are taken together
/// where they lie at too many places.
json dropped_data(const run_record& record) {
  std::vector<nanoseconds> due;
  for (const auto& frame : record.frames) due.push_back(frame.due);
  std::sort(due.begin(), due.end());
  const std::size_t step = due.size() / most_dropped + 1;
  json places = json::array();
  std::size_t last = 0;
  for (const auto time : record.load.dropped) {
    const auto next =
        static_cast<std::size_t>(std::upper_bound(due.begin(), due.end(), time) - due.begin());
    const auto place = next / step * step;
    if (places.empty() || place != last) places.push_back({place, 0});
    places.back()[1] = places.back()[1].get<std::size_t>() + 1;
    last = place;
  }
  return {{"count", record.load.dropped.size()}, {"at", std::move(places)}};
}

}  // namespace

json latency_data(const run_record& record, const run_summary& summary) {
  if (record.frames.empty()) return {};
  const auto times = end_to_end_times(record);
  json list = json::array();
  list.push_back(series("end to end", times, most_frames));
  const auto stages = std::max<std::size_t>(record.stages.size(), 1);
  const auto points = std::clamp(most_points / stages, least_of_one, most_of_one);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& columns = summary.stages[i].columns;
    if (columns.empty() || !columns.front().times) continue;
    const auto what = columns.front().what;
    list.push_back(series(record.stages[i].name, times_of(record.stages[i], what), points));
    list.back()["what"] = short_name(what);
  }
  json data = {{"frames", times.size()}, {"series", std::move(list)}, {"rows", rows_of(times)}};
  if (auto median = median_data(times); !median.is_null()) data["median"] = std::move(median);
  if (!record.load.dropped.empty()) data["dropped"] = dropped_data(record);
  if (record.run.deadline) data["deadline"] = *record.run.deadline;
  return data;
}

}  // namespace graphline
