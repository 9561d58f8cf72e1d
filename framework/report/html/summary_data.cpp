#include "framework/report/html/summary_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/report/html/figure_data.hpp"
#include "framework/report/terminal/device_detail.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/run_times.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

std::optional<double> as_double(const std::optional<nanoseconds>& ns) {
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

std::string words(nanoseconds ns) {
  return format_duration(static_cast<double>(ns));
}

/// "95 %: 21.9 to 40.2"; an end that the frames do not carry is named.
std::string interval_words(const percentile_interval& of, time_unit unit) {
  const auto end = [&](const std::optional<nanoseconds>& ns, const char* absent) {
    return ns ? in_unit(as_double(ns), unit) : absent;
  };
  return fmt::format("95 %: {} to {}", end(of.low, "below the shortest"),
                     end(of.high, "beyond the longest"));
}

json percentile_figure(const run_analysis& analysis, std::size_t index, time_unit unit) {
  const auto& times = *analysis.summary.end_to_end;
  const auto& [name, p] = shown_percentiles[index];
  if (const auto value = times.percentile(p)) {
    auto note = p == 0.5 ? "half of the frames took longer"
                         : fmt::format("1 frame in {:g} took longer", 1 / (1 - p));
    if (index < analysis.intervals.size()) {
      note += "; " + interval_words(analysis.intervals[index], unit);
    }
    return figure_data(name, in_unit(as_double(value), unit), unit.name, note);
  }
  if (!times.why_unsettled().empty()) return figure_data(name, "-", "", times.why_unsettled());
  return figure_data(name, "-", "",
                     fmt::format("needs {} frames, there {} {}", samples_needed(p),
                                 times.count() == 1 ? "is" : "are", times.count()));
}

void add_times(json& figures, const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  const auto unit = unit_for(times.mean());
  for (std::size_t i = 0; i < percentiles_of_table(times).size(); ++i) {
    if (shown_percentiles[i].first == "p90") continue;
    figures.push_back(percentile_figure(analysis, i, unit));
  }
  if (!times.why_unsettled().empty()) return;
  const auto spread = times.stddev();
  figures.push_back(figure_data(
      "mean", in_unit(times.mean(), unit), unit.name,
      spread ? fmt::format("stddev {} {}", in_unit(spread, unit), unit.name) : "of one frame"));
}

void add_throughput(json& figures, const run_summary& summary) {
  if (!summary.throughput) {
    if (const auto& why = summary.why_no_throughput; !why.empty()) {
      figures.push_back(figure_data("throughput", "-", "", why));
    }
    return;
  }
  const bool due = summary.load && summary.load->offered;
  figures.push_back(figure_data(
      "throughput", three_digits(*summary.throughput), "frame/s",
      due ? fmt::format("{} frame/s were due", three_digits(*summary.load->offered)) : ""));
}

void add_deadline(json& figures, const deadline_summary& deadline, std::size_t frames) {
  const auto late = deadline.missed == 0
                        ? std::string()
                        : fmt::format("; late by {} (median), {} (worst)",
                                      words(*deadline.median_late), words(*deadline.worst_late));
  figures.push_back(figure_data("deadline missed", fmt::format("{}", deadline.missed),
                                fmt::format("of {}", frames),
                                fmt::format("{} allowed{}", words(deadline.limit), late),
                                deadline.missed == 0 ? "good" : "bad"));
}

void add_load(json& figures, const run_record& record, const load_summary& load) {
  figures.push_back(
      figure_data("frames dropped", fmt::format("{}", load.dropped), fmt::format("of {}", load.due),
                  counted(record.load.found_full, "arrival") + " found the queue full",
                  load.dropped == 0 ? "good" : "bad"));
  const auto note = most_waited(record);
  if (!load.queue_wait) return;
  if (const auto& why = load.queue_wait->why_unsettled(); !why.empty()) {
    figures.push_back(
        figure_data("queue wait", "-", "",
                    fmt::format("{}; {} (worst); {}", why, words(load.queue_wait->max()), note)));
    return;
  }
  const auto unit = unit_for(static_cast<double>(load.queue_wait->median()));
  figures.push_back(figure_data(
      "queue wait", in_unit(static_cast<double>(load.queue_wait->median()), unit), unit.name,
      fmt::format("median from due to begin; {} (worst); {}", words(load.queue_wait->max()),
                  note)));
}

json end_to_end_row(const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  const auto unit = unit_for(times.mean());
  const bool settled = times.why_unsettled().empty();
  json cells = json::array();
  const auto add = [&](std::string_view name, std::optional<double> ns) {
    cells.push_back({name, in_unit(ns, unit)});
  };
  add("mean", settled ? std::optional(times.mean()) : std::nullopt);
  add("stddev", settled ? times.stddev() : std::nullopt);
  add("min", static_cast<double>(times.min()));
  for (const auto& [name, p] : percentiles_of_table(times)) {
    add(name, as_double(times.percentile(p)));
    for (const auto& of : analysis.intervals) {
      if (of.p != p) continue;
      cells.back().push_back(in_unit(as_double(of.low), unit));
      cells.back().push_back(in_unit(as_double(of.high), unit));
    }
  }
  add("max", static_cast<double>(times.max()));
  return {{"unit", unit.name}, {"cells", std::move(cells)}};
}

/// What is shown of a floor: {"least", "ratio"}; empty without one.
json floor_data(const roofline_metrics* held, time_unit unit) {
  if (held == nullptr || !held->roofline_time) return json::object();
  return {{"least", in_unit(held->roofline_time, unit)}, {"ratio", ratio_cell(held)}};
}

/// The unit of a column of means.
time_unit unit_of_column(const run_summary& summary, std::size_t index) {
  double most = 0;
  for (const auto& stage : summary.stages) {
    if (stage.columns.size() <= index || !stage.columns[index].times) continue;
    most = std::max(most, stage.columns[index].times->mean());
  }
  return unit_for(most);
}

std::string place_of(const stage_record& stage) {
  if (stage.on == side::cpu) return "CPU";
  return stage.stream.empty() ? "device" : stage.stream;
}

json stage_row(const stage_record& stage, const stage_summary& summary,
               const roofline_metrics* held, time_unit unit, time_unit launch_unit) {
  const auto& column = summary.columns.front();
  const auto& times = *column.times;
  json row = {{"name", stage.name},
              {"kind", stage.kind},
              {"place", place_of(stage)},
              {"what", stage.copy              ? "copy"
                       : stage.on == side::cpu ? "cpu"
                                               : "device"},
              {"time_is", short_name(column.what)}};
  row["cells"] = {in_unit(times.mean(), unit),
                  in_unit(times.stddev(), unit),
                  in_unit(as_double(times.percentile(0.5)), unit),
                  in_unit(as_double(times.percentile(0.9)), unit),
                  in_unit(as_double(times.percentile(0.99)), unit),
                  in_unit(static_cast<double>(times.max()), unit)};
  row["share"] = summary.share ? three_digits(100 * *summary.share, 2) : "-";
  if (summary.share) row["part"] = *summary.share;
  if (summary.columns.size() > 1 && summary.columns[1].times) {
    row["enqueue"] = in_unit(summary.columns[1].times->mean(), launch_unit);
  }
  row.update(floor_data(held, unit));
  return row;
}

json stages_data(const run_record& record, const run_summary& summary, const floors& held) {
  const auto unit = unit_of_column(summary, 0);
  const auto launch_unit = unit_of_column(summary, 1);
  json rows = json::array();
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& columns = summary.stages[i].columns;
    if (columns.empty() || !columns.front().times) continue;
    rows.push_back(stage_row(record.stages[i], summary.stages[i],
                             held.any_stage() ? held.of_stage(i) : nullptr, unit, launch_unit));
  }
  if (rows.empty()) return {};
  return {{"unit", unit.name}, {"enqueue_unit", launch_unit.name}, {"rows", std::move(rows)}};
}

json notes_of(const run_record& record, const run_analysis& analysis, const floors& held) {
  json notes = json::array();
  if (const auto why = why_absent(*analysis.summary.end_to_end); !why.empty()) {
    notes.push_back("-: " + why);
  }
  if (!analysis.intervals.empty()) notes.push_back(interval_note());
  const auto timing = record.run.timing;
  if (timing != timing_method::none && !record.stages.empty()) {
    notes.push_back("share: of the mean end to end; stages that overlap add up to more than 100 %");
  }
  if (held.any_stage()) notes.push_back(floor_note(record));
  notes.push_back(fmt::format("timing {}: {}", to_word(timing), meaning_of(timing)));
  const bool device_times = timing == timing_method::event || timing == timing_method::layers;
  if (!device_times || record.clock_error == 0) return notes;
  auto clock = fmt::format("clock: device times stand on the host's clock to within {}",
                           words(record.clock_error));
  if (record.clock_drift != 0) {
    clock += fmt::format("; a drift of {} over the frames is taken out of them",
                         words(std::abs(record.clock_drift)));
  }
  notes.push_back(std::move(clock));
  return notes;
}

}  // namespace

json summary_data(const run_record& record, const run_analysis& analysis, const floors& held) {
  const auto& summary = analysis.summary;
  json data = {{"figures", json::array()}};
  auto& figures = data["figures"];
  if (summary.end_to_end) add_times(figures, analysis);
  add_throughput(figures, summary);
  if (summary.end_to_end && summary.deadline) {
    add_deadline(figures, *summary.deadline, record.frames.size());
  }
  if (summary.load) add_load(figures, record, *summary.load);
  figures.push_back(quantity_data(
      "device memory", format_bytes(record.memory.device_peak_bytes),
      fmt::format("at peak; {} pinned", format_bytes(record.memory.pinned_peak_bytes))));
  if (summary.end_to_end) {
    data["end_to_end"] = end_to_end_row(analysis);
    data["notes"] = notes_of(record, analysis, held);
  }
  if (auto stages = stages_data(record, summary, held); !stages.is_null()) {
    data["stages"] = std::move(stages);
  }
  if (const auto cost = graph_cost_of(record)) data["graphs"] = graph_sentence(*cost);
  data["outputs"] = json::array();
  for (const auto& output : record.outputs) {
    data["outputs"].push_back({output.tensor, to_string(output.type), output.checksum});
  }
  return data;
}

}  // namespace graphline
