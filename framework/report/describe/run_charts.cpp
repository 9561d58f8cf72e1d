#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/units.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

// ---- Frame by frame -----------------------------------------------------------------------------

constexpr std::size_t most_frames = 2000;  ///< of the end-to-end times

frames_chart::series series_of(std::string name, const std::vector<nanoseconds>& times,
                               std::size_t most) {
  frames_chart::series made{std::move(name), "", thinned_series(times, most)};
  for (const auto frame : made.frames) made.times.push_back(times[frame]);
  return made;
}

/// A twentieth of the frames on either side, at least 5 and at most 500; too few frames have no
/// median, and none stands where there are not as many on both sides.
void add_median(frames_chart& to, const std::vector<nanoseconds>& times) {
  constexpr std::size_t least_reach = 5;
  constexpr std::size_t most_reach = 500;
  constexpr std::size_t most_points = 300;
  if (times.size() < 4 * least_reach) return;
  to.reach = std::clamp(times.size() / 20, least_reach, most_reach);
  auto at = evenly_spread(times.size() - 2 * to.reach, most_points);
  for (auto& frame : at) frame += to.reach;
  auto medians = rolling_medians(times, at, to.reach);
  to.median = frames_chart::series{"rolling median", "", std::move(at), std::move(medians)};
}

/// Dropped frames by the frame that was the next to be carried out; neighbors are taken together
/// where they lie at too many places.
void add_dropped(frames_chart& to, const run_record& record) {
  constexpr std::size_t most_places = 400;
  std::vector<nanoseconds> due;
  for (const auto& frame : record.frames) due.push_back(frame.due);
  std::sort(due.begin(), due.end());
  const std::size_t step = due.size() / most_places + 1;
  to.dropped_in_all = record.load.dropped.size();
  for (const auto time : record.load.dropped) {
    const auto next =
        static_cast<std::size_t>(std::upper_bound(due.begin(), due.end(), time) - due.begin());
    const auto place = next / step * step;
    if (to.dropped.empty() || place != to.dropped.back().first) to.dropped.emplace_back(place, 0);
    ++to.dropped.back().second;
  }
}

chart frame_times(const run_record& record, const run_summary& summary) {
  constexpr std::size_t most_points = 16'000;  ///< of all stages together
  constexpr std::size_t most_of_one = 1200;
  constexpr std::size_t least_of_one = 60;
  const auto times = end_to_end_times(record);
  frames_chart made;
  made.frames = times.size();
  made.list.push_back(series_of("end to end", times, most_frames));
  const auto stages = std::max<std::size_t>(record.stages.size(), 1);
  const auto points = std::clamp(most_points / stages, least_of_one, most_of_one);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& columns = summary.stages[i].columns;
    if (columns.empty() || !columns.front().times) continue;
    const auto what = columns.front().what;
    made.list.push_back(series_of(record.stages[i].name, times_of(record.stages[i], what), points));
    made.list.back().what = short_name(what);
  }
  // A row for each frame, or for each of as many stretches as a person would look through.
  constexpr std::size_t most_rows = 200;
  constexpr std::size_t most_stretches = 100;
  made.stretches = stretches_of(times, times.size() <= most_rows ? most_rows : most_stretches);
  add_median(made, times);
  add_dropped(made, record);
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

std::vector<std::pair<std::string, nanoseconds>> marks_of(const distribution& times) {
  std::vector<std::pair<std::string, nanoseconds>> marks = {{"min", times.min()}};
  for (const auto& [name, p] : shown_percentiles) {
    if (const auto value = times.percentile(p)) marks.emplace_back(name, *value);
  }
  marks.emplace_back("max", times.max());
  return marks;
}

chart distribution_of(const run_record& record, const run_summary& summary) {
  constexpr std::size_t most_points = 12'000;  ///< of all cumulative distributions together
  constexpr std::size_t most_of_one = 400;
  constexpr std::size_t least_of_one = 40;
  distributions_chart made;
  const auto add = [&](std::string name, std::string what, std::string color,
                       std::vector<nanoseconds> sample, const distribution& times,
                       std::size_t points) {
    made.list.push_back({std::move(name),
                         std::move(what),
                         std::move(color),
                         *histogram_of(sample),
                         {},
                         marks_of(times)});
    made.list.back().steps = cumulative_steps(std::move(sample), points);
  };
  add("end to end", "", "frame", end_to_end_times(record), *summary.end_to_end, most_of_one);
  if (summary.load && summary.load->queue_wait) {
    add("queue wait", "", "frame", queue_wait_times(record), *summary.load->queue_wait,
        most_of_one);
  }
  std::size_t curves = 2;
  for (const auto& stage : summary.stages) curves += stage.columns.size();
  const auto points = std::clamp(most_points / curves, least_of_one, most_of_one);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    for (const auto& [what, times] : summary.stages[i].columns) {
      if (!times) continue;
      add(record.stages[i].name, std::string(short_name(what)), color_of(what),
          times_of(record.stages[i], what), *times, points);
    }
  }
  made.deadline = record.run.deadline;
  return {"distribution", "Distribution", "", std::move(made)};
}

// ---- Critical paths -----------------------------------------------------------------------------

std::string color_of(const stage_record& stage) {
  if (stage.copy) return "copy";
  return stage.on == side::cpu ? "cpu" : "device";
}

chart critical_path(const run_record& record, const attribution_summary& summary) {
  critical_path_chart made{summary, {}, record.frames.size()};
  for (const auto& stage : record.stages) made.stages.emplace_back(stage.name, color_of(stage));
  std::string help = "The critical path of a frame, by what its time goes to";
  if (record.frames.size() > 1) {
    help +=
        "; means over all frames, those around the median (45th to 55th percentile) and the "
        "slowest 1 %";
  }
  const auto* whole = summary.why_no_queue.empty() ? "end-to-end time" : "time from begin to end";
  help += fmt::format(". The pieces of each frame add up to its {}", whole);
  if (summary.largest_residual != 0) {
    const auto text = [](nanoseconds ns) { return format_duration(static_cast<double>(ns)); };
    help += fmt::format(" within {}: the clocks of device and host are aligned to {}",
                        text(summary.largest_residual), text(record.clock_error));
  }
  help += '.';
  if (!summary.why_no_queue.empty()) {
    help += fmt::format(" Without queue wait: {}.", summary.why_no_queue);
  }
  return {"critical_path", "Critical path", std::move(help), std::move(made)};
}

// ---- The pipeline -------------------------------------------------------------------------------

pipeline_chart::stage drawn_stage(const stage_record& stage, const stage_summary& summary) {
  pipeline_chart::stage made{stage.name,
                             stage.kind,
                             color_of(stage),
                             stage.on == side::cpu ? "CPU" : stage.stream,
                             std::string(to_word(stage.priority)),
                             "",
                             std::nullopt,
                             summary.share};
  if (!summary.columns.empty() && summary.columns.front().times) {
    made.measure = key_of(summary.columns.front().what);
    made.mean = summary.columns.front().times->mean();
  }
  return made;
}

/// Inputs, stages and outputs as nodes, in an order that every edge follows.
void add_graph(pipeline_chart& to, const run_record& record) {
  const auto& tensors = record.tensors;
  const auto inputs = static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(), [](const auto& one) { return !one.writer; }));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].writer) continue;
    for (const auto reader : tensors[i].readers) {
      to.edges.push_back({to.nodes.size(), inputs + reader, {i}, {}, {}});
    }
    to.nodes.push_back({"input", i});
  }
  for (std::size_t s = 0; s < record.stages.size(); ++s) to.nodes.push_back({"stage", s});
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    for (const auto& wait : record.stages[s].waits) {
      to.edges.push_back({inputs + wait.stage, inputs + s, {}, to_word(wait.how), {}});
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto& readers = tensors[i].readers;
        if (tensors[i].writer != wait.stage) continue;
        if (std::find(readers.begin(), readers.end(), s) == readers.end()) continue;
        to.edges.back().tensors.push_back(i);
      }
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].writer || !tensors[i].readers.empty()) continue;
    to.edges.push_back({inputs + *tensors[i].writer, to.nodes.size(), {i}, {}, {}});
    to.nodes.push_back({"output", i});
  }
}

chart pipeline_of(const run_record& record, const run_analysis& analysis) {
  pipeline_chart made;
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    made.stages.push_back(drawn_stage(record.stages[i], analysis.summary.stages[i]));
  }
  for (const auto& tensor : record.tensors) {
    made.tensors.emplace_back(tensor.name, to_string(tensor.type));
  }
  add_graph(made, record);
  lay_out(made);
  if (analysis.attribution) made.critical = analysis.attribution->bound_of_median.stages;
  const bool timed = std::any_of(made.stages.begin(), made.stages.end(),
                                 [](const auto& stage) { return stage.mean.has_value(); });
  std::string help =
      "Stages from left to right, or down, as they wait for each other; dashed boxes are inputs "
      "and outputs. ";
  help += timed ? "Bars: mean stage time over mean end-to-end time."
                : "The stages were not timed; --timing event does that.";
  if (!made.critical.empty()) {
    help += " Outlined: the stages whose times make the lower bound of the median frame.";
  }
  return {"pipeline", "Pipeline", std::move(help), std::move(made)};
}

}  // namespace

void add_run_charts(document& to, const run_record& record, const run_analysis& analysis,
                    const std::vector<std::size_t>& page_frames) {
  const auto& summary = analysis.summary;
  if (summary.end_to_end) {
    to.parts.push_back(frame_times(record, summary));
    to.parts.push_back(distribution_of(record, summary));
  }
  if (const auto& attribution = analysis.attribution) {
    to.parts.push_back(chart{"timeline", "Timeline of a frame", "",
                             timeline_of(record, *attribution, page_frames)});
    to.parts.push_back(critical_path(record, *attribution));
  }
  if (!record.stages.empty()) to.parts.push_back(pipeline_of(record, analysis));
}

}  // namespace graphline::report
