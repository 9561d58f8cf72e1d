#include <algorithm>
#include <numeric>
#include <set>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

// ---- Frame by frame -----------------------------------------------------------------------------

constexpr std::size_t most_frames = 2000;  ///< maximum number of points of the end-to-end times

/// Returns all times if there are at most `most`. Otherwise returns the first and the last time,
/// and the shortest and the longest time of each of many equal stretches, so that spikes are kept.
/// @param numbers Frame of each time.
frames_chart::series series_of(std::string name, const std::vector<nanoseconds>& times,
                               const std::vector<std::size_t>& numbers, std::size_t most) {
  const auto count = times.size();
  const auto stretches = count <= most ? count : (most - 2) / 2;
  std::set<std::size_t> kept = {0, count - 1};
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto at = [&](std::size_t stretch) {
      return times.begin() + static_cast<std::ptrdiff_t>(count * stretch / stretches);
    };
    const auto [low, high] = std::minmax_element(at(i), at(i + 1));
    kept.insert(static_cast<std::size_t>(low - times.begin()));
    kept.insert(static_cast<std::size_t>(high - times.begin()));
  }
  frames_chart::series made{std::move(name)};
  for (const auto i : kept) {
    made.frames.push_back(numbers[i]);
    made.times.push_back(times[i]);
  }
  return made;
}

chart frame_times(const run_record& record, const run_summary& summary) {
  constexpr std::size_t most_points = 16'000;  ///< limit for all stages together
  constexpr std::size_t most_of_one = 1200;
  constexpr std::size_t least_of_one = 60;
  const auto times = end_to_end_times(record);
  const run_passes passes(record);
  frames_chart made;
  made.frames = times.size();
  std::vector<std::size_t> all(times.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  made.list.push_back(series_of("end to end", times, all, most_frames));
  const auto stages = std::max<std::size_t>(record.stages.size(), 1);
  const auto points = std::clamp(most_points / stages, least_of_one, most_of_one);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& columns = summary.stages[i].columns;
    if (columns.empty() || !columns.front().times) continue;
    const auto what = columns.front().what;
    const auto& stage = record.stages[i];
    std::vector<std::size_t> numbers;
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      if (ran(stage, pass)) numbers.push_back(passes.first_frame(pass));
    }
    made.list.push_back(series_of(stage.name, times_of(stage, what), numbers, points));
    made.list.back().what = short_name(what);
  }
  made.deadline = record.run.deadline;
  return {"frame_times", "Frame by frame", "", std::move(made)};
}

// ---- Distributions ------------------------------------------------------------------------------

std::string color_of(measure what) {
  switch (what) {
    case measure::enqueue_time:
      return "launch";
    case measure::cpu_time:
      return "cpu";
    default:
      return "device";
  }
}

chart distribution_of(const run_record& record, const run_summary& summary) {
  distributions_chart made;
  const auto add = [&](std::string name, std::string what, std::string color,
                       std::vector<nanoseconds> sample, const distribution& times) {
    made.list.push_back({std::move(name), std::move(what), std::move(color),
                         *histogram_of(std::move(sample)), marks_of(times)});
  };
  add("end to end", "", "frame", end_to_end_times(record), *summary.end_to_end);
  if (summary.load && summary.load->queue_wait) {
    add("queue wait", "", "frame", queue_wait_times(record), *summary.load->queue_wait);
  }
  if (summary.batches) {
    add("batch wait", "", "frame", batch_wait_times(record), *summary.batches->wait);
  }
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    for (const auto& [what, times] : summary.stages[i].columns) {
      if (!times) continue;
      add(record.stages[i].name, std::string(short_name(what)), color_of(what),
          times_of(record.stages[i], what), *times);
    }
  }
  made.deadline = record.run.deadline;
  return {"distribution", "Distribution", "", std::move(made)};
}

}  // namespace

std::vector<std::pair<std::string, nanoseconds>> marks_of(const distribution& times) {
  std::vector<std::pair<std::string, nanoseconds>> marks = {{"min", times.min()}};
  for (const auto& [name, p] : shown_percentiles) {
    if (const auto value = times.percentile(p)) marks.emplace_back(name, *value);
  }
  marks.emplace_back("max", times.max());
  return marks;
}

void add_run_charts(document& to, const run_record& record, const run_analysis& analysis) {
  const auto& summary = analysis.summary;
  if (summary.end_to_end) {
    to.parts.push_back(frame_times(record, summary));
    to.parts.push_back(distribution_of(record, summary));
  }
  if (const auto& attribution = analysis.attribution) {
    to.parts.push_back(chart{"timeline", "Timeline of a frame", "",
                             timeline_of(record, attribution->median_frame)});
  }
}

}  // namespace graphline::report
