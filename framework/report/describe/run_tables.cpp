#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "framework/analysis/run/rows.hpp"
#include "framework/base/units.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

using enum unit;

/// A figure of a sample, shown in all tables of a run.
struct statistic {
  std::string title;
  int rank = 0;      ///< rank of its column in the table of stages
  int end_rank = 0;  ///< rank of its column in the table of end-to-end times
  std::function<std::optional<double>(const distribution&)> of = {};
};

std::vector<statistic> statistics(const std::optional<distribution>& end_to_end) {
  const auto settled = [](auto get) {
    return [get](const distribution& d) {
      return d.why_unsettled().empty() ? std::optional<double>(get(d)) : std::nullopt;
    };
  };
  std::vector<statistic> list = {
      {"mean", 0, 1, settled([](const distribution& d) { return std::optional(d.mean()); })},
      {"stddev", 6, 8, settled([](const distribution& d) { return d.stddev(); })},
      {"min", 15, 9, [](const distribution& d) { return static_cast<double>(d.min()); }}};
  const auto shown = end_to_end ? std::ssize(percentiles_of_table(*end_to_end)) : 0;
  for (int i = 0; i < shown; ++i) {
    const auto& [name, p] = shown_percentiles[i];
    // A narrow table of stages drops p95, then p99 up to p99.99, then p90. A narrow end-to-end
    // table drops p90, then p99.99 down to p95. Both keep p50 longest.
    const int rank = i < 2 ? 5 * i : 16 - i;
    const int end_rank = i == 0 ? 0 : i == 1 ? 7 : i + 1;
    list.push_back({std::string(name), rank, end_rank,
                    [p = p](const distribution& d) -> std::optional<double> {
                      const auto value = d.percentile(p);
                      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
                    }});
  }
  list.push_back({"max", 2, 2, [](const distribution& d) { return static_cast<double>(d.max()); }});
  return list;
}

/// Returns the ends of a statistic's interval. Only predicted runs have one for the mean.
std::pair<cell, cell> interval_cells(const run_record& record, const run_analysis& analysis,
                                     const std::string& title) {
  if (record.prediction && title == "mean") {
    const predicted_figure* const figure = figure_of(*record.prediction, title);
    if (figure != nullptr) return {cell(figure->low, duration), cell(figure->high, duration)};
  }
  const auto interval =
      std::ranges::find(analysis.intervals, title,
                        [](const percentile_interval& of) { return percentile_name(of.p); });
  if (interval == analysis.intervals.end()) return {"", ""};
  return {cell(interval->low, duration), cell(interval->high, duration)};
}

/// Returns a table of the end-to-end times, their intervals, and queue waits.
table end_to_end_table(const run_record& record, const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  table made{"end_to_end_times", "End to end", "", "", {{"frames", "end to end"}}, {}, shown};
  row values{{counted(times.count(), "frame")}};
  row from{{"95 % from"}};
  row to{{"to"}};
  row waits{{"queue wait"}};
  const auto wait = analysis.summary.load ? analysis.summary.load->queue_wait : std::nullopt;
  for (const auto& one : statistics(times)) {
    made.columns.push_back({one.title, one.title, duration, one.end_rank});
    values.cells.push_back(cell(one.of(times), duration));
    const auto [low, high] = interval_cells(record, analysis, one.title);
    from.cells.push_back(low);
    to.cells.push_back(high);
    if (wait) waits.cells.push_back(cell(one.of(*wait), duration));
  }
  made.columns.push_back({"histogram", "histogram", {}, 11});
  values.cells.push_back(samples_of(times));
  from.cells.emplace_back("");
  to.cells.emplace_back("");
  made.rows.push_back(std::move(values));
  if (!analysis.intervals.empty()) {
    made.rows.push_back(std::move(from));
    made.rows.push_back(std::move(to));
  }
  if (wait) {
    waits.cells.push_back(samples_of(wait));
    made.rows.push_back(std::move(waits));
  }
  if (const auto& batches = analysis.summary.batches) {
    row in_batch{{"batch wait"}};
    for (const auto& one : statistics(times)) {
      in_batch.cells.push_back(cell(one.of(*batches->wait), duration));
    }
    in_batch.cells.push_back(samples_of(batches->wait));
    made.rows.push_back(std::move(in_batch));
  }
  return made;
}

/// Returns the figures at the top of a page, which `diff` compares.
facts latency_facts(const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  facts made{"latency", "Latency", {}, in_page};
  for (const auto& one : statistics(times)) {
    if (one.title == "stddev" || one.title == "min") continue;
    made.list.push_back({one.title, "end to end " + one.title, cell(one.of(times), duration)});
  }
  return made;
}

const roofline_metrics* roofline_of(const run_analysis& analysis, std::size_t stage,
                                    std::size_t bucket) {
  if (!analysis.roofline) return nullptr;
  for (const auto& one : analysis.roofline->stages) {
    if (one.stage == stage && one.bucket == bucket) return &one.figures;
  }
  return nullptr;
}

const roofline_metrics* roofline_of_part(const run_analysis& analysis, std::size_t stage,
                                         std::size_t part) {
  if (!analysis.roofline) return nullptr;
  for (const auto& one : analysis.roofline->stages) {
    if (one.stage != stage) continue;
    const auto found = std::ranges::find(one.parts, part, &roofline_stage::part::index);
    if (found != one.parts.end()) return &found->figures;
  }
  return nullptr;
}

/// A stage or a part.
struct stage_row {
  const stage_record& stage;
  const part_record* part;
  const std::optional<rows_summary>& rows;  ///< of the stage
  const std::vector<stage_summary::column>& measured;
  const std::optional<distribution>& times;
  std::optional<double> share;
  const roofline_metrics* roofline;
};

/// Returns what passes through the pipeline at once.
std::string pass_name(const run_record& record) {
  return record.batches.empty() ? "frames" : "batches";
}

cell measured_times(const stage_row& x, measure what) {
  if (x.part != nullptr) {
    if (what != measure::device_time || !x.times) return {};
    return samples_of(x.times);
  }
  const auto found = std::ranges::find(x.measured, what, &stage_summary::column::what);
  if (found == x.measured.end()) return {};
  return samples_of(found->times);
}

/// Returns the times between a stage's events. Empty unless the device also reports busy times.
cell spans_of(const stage_row& x) {
  if (x.part != nullptr || x.stage.busy.empty()) return {};
  return samples_of(distribution::of(of_frames_run(x.stage, lengths(x.stage.device))));
}

bool ran_always(const stage_row& x) {
  return !x.rows || x.rows->ran == x.stage.rows.size();
}

/// Returns "33 of 45"; "all" for a stage that runs in every frame.
cell frames_run(const stage_row& x) {
  if (x.part != nullptr) return cell("");
  if (ran_always(x)) return cell("all");
  return cell(fmt::format("{} of {}", x.rows->ran, x.stage.rows.size()));
}

column_of<stage_row> frames_column(std::string key, std::size_t rows_summary::*count) {
  return {data_column(std::move(key)), [count](const stage_row& x) {
            return x.part == nullptr && x.rows ? cell((*x.rows).*count) : cell();
          }};
}

std::vector<column_of<stage_row>> stage_columns(const run_record& record,
                                                const std::vector<statistic>& statistics) {
  using r = const stage_row&;
  const bool skips = std::ranges::any_of(record.stages, [](const stage_record& stage) {
    return std::ranges::any_of(stage.rows, [](std::int32_t rows) { return rows <= 0; });
  });
  std::vector<column_of<stage_row>> list = {
      {{"name", "stage"},
       [](r x) {
         return x.part ? x.part->name + bucket_suffix(x.stage, x.part->bucket) : x.stage.name;
       }},
      {{"kind", "kind", {}, 0, "", not_in_text},
       [](r x) { return x.part ? cell() : cell(x.stage.kind); }},
      {data_column("on"), [](r x) { return x.part ? cell() : cell(x.stage.on); }},
      {{"stream", "stream", {}, 0, "", not_in_text},
       [](r x) { return x.part ? cell() : unless_empty(x.stage.stream); }},
      {data_column("copy"), [](r x) { return !x.part && x.stage.copy ? cell(true) : cell(); }},
      {{"kernel", "kernel", {}, 16},
       [](r x) { return x.part ? unless_empty(x.part->choice) : cell(); }},
      {{.key = "time_is", .title = "time is", .rank = 3, .where = shown, .decides = true},
       [](r x) {
         if (x.part) return cell("");
         return x.times ? cell(short_name(x.measured.front().what)) : cell();
       }},
      {{"ran",
        "ran",
        {},
        2,
        fmt::format("{0} that ran the stage; its times are of these {0}", pass_name(record)),
        skips ? unsigned{shown} : 0U},
       frames_run},
      frames_column("frames_run", &rows_summary::ran),
      frames_column("frames_without_rows", &rows_summary::without_rows),
      frames_column("frames_skipped", &rows_summary::skipped)};
  for (const auto& one : statistics) {
    list.push_back({{one.title, one.title, duration, one.rank, "", shown, one.title == "p50"},
                    [one](r x) { return x.times ? cell(one.of(*x.times), duration) : cell(); }});
  }
  const bool parts = record.run.timing == timing_method::layers;
  const std::vector<column_of<stage_row>> rest = {
      {{"share", "share %", share, 1,
        fmt::format("% of the {}{}; overlapping stages can exceed 100 %",
                    skips ? "end-to-end time of all frames, whether they ran the stage or not"
                          : "mean end-to-end time",
                    parts ? " (of parts: of their stage)" : "")},
       [](r x) { return cell(x.share, share); }},
      {{"roofline_time", "bound", duration, 4,
        record.calibration ? fmt::format("roofline time at the ceilings calibrated on {}",
                                         record.calibration->date.substr(0, 10))
                           : ""},
       [](r x) { return x.roofline ? cell(x.roofline->roofline_time, duration) : cell(); }},
      {data_column("bound"), [](r x) { return x.roofline ? cell(x.roofline->by) : cell(); }},
      {{"ratio", "ratio", ratio, 1, "p50 over bound"},
       [](r x) { return x.roofline ? cell(x.roofline->ratio, ratio) : cell(); }},
      {{"enqueue", "enqueue", duration, 3, "", shown},
       [](r x) {
         if (x.part) return cell();
         const bool known = x.measured.size() > 1 && x.measured[1].times;
         return known ? cell(x.measured[1].times->mean(), duration) : cell("");
       }},
      {{"histogram", "histogram", {}, 11, "", shown}, [](r x) { return samples_of(x.times); }}};
  list.insert(list.end(), rest.begin(), rest.end());
  for (const auto& [word, what] : measure_words) {
    list.push_back(
        {data_column(std::string(word)), [what = what](r x) { return measured_times(x, what); }});
  }
  list.push_back({data_column("device_span"), spans_of});
  for (auto& one : list) one.is.optional = one.is.key != "name";
  return list;
}

/// Returns the table of stages in planned order, each with its parts. Stages without times appear
/// in JSON and CSV only.
table stage_table(const run_record& record, const run_analysis& analysis) {
  const auto columns = stage_columns(record, statistics(analysis.summary.end_to_end));
  table made{"stages", "Stages", "stage", "part", columns_of(columns)};
  const auto add = [&](const stage_row& one, int level) {
    made.rows.push_back(row_of(one, columns, level));
    if (!one.times && (one.part != nullptr || ran_always(one))) made.rows.back().where = in_data;
  };
  const std::optional<distribution> none;
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    const auto& stage = record.stages[s];
    const auto& summary = analysis.summary.stages[s];
    const auto& measured = summary.columns;
    // The table of rows shows the roofline of each bucket.
    const auto* roofline = stage.buckets.empty() ? roofline_of(analysis, s, 0) : nullptr;
    add({stage, nullptr, summary.rows, measured, measured.empty() ? none : measured.front().times,
         summary.share, roofline},
        0);
    for (std::size_t p = 0; p < stage.parts.size(); ++p) {
      add({stage, &stage.parts[p], summary.rows, measured, summary.parts[p].times,
           summary.parts[p].share, roofline_of_part(analysis, s, p)},
          1);
    }
  }
  return made;
}

// ---- Rows ---------------------------------------------------------------------------------------

/// Returns a table of the stages with `rows`, and of the buckets that their frames took.
table rows_table(const run_record& record, const run_analysis& analysis) {
  table made{"rows",
             "Rows by bucket",
             "stage",
             "bucket",
             {{"name", "stage"},
              {.key = "frames", .title = pass_name(record), .in = none, .compared = true},
              {.key = "rows", .title = "rows", .in = count, .help = "the mean", .compared = true},
              {.key = "mean", .title = "mean", .in = duration, .compared = true},
              {"p95", "p95", duration, 1},
              {"padding", "padding %", share, 0, "% of the rows that were computed"},
              {"flops", "FLOPs", flops, 4, record.batches.empty() ? "of a frame" : "of a batch"},
              {"roofline_time", "bound", duration, 3, "roofline time"},
              {"ratio", "ratio", ratio, 2, "p50 over bound"}}};
  made.titled = made.blanks = true;
  const auto mean = [](const std::optional<distribution>& times) {
    return times ? cell(times->mean(), duration) : cell();
  };
  const auto p95 = [](const std::optional<distribution>& times) {
    return times ? cell(times->percentile(0.95), duration) : cell();
  };
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    const auto& stage = record.stages[s];
    const auto& of = analysis.summary.stages[s];
    // Copies follow the stage that writes what they copy.
    if (stage.capacity == 0 || stage.copy || !of.rows) continue;
    const auto& rows = *of.rows;
    const auto times = of.columns.empty() ? std::nullopt : of.columns.front().times;
    made.rows.push_back(
        {{stage.name,
          rows.ran,
          cell(rows.mean_rows(), count),
          mean(times),
          p95(times),
          stage.buckets.empty() ? cell() : cell(padding_of(rows.rows, rows.computed), share),
          {},
          {},
          {}}});
    for (std::size_t b = 0; b < rows.buckets.size(); ++b) {
      const auto& use = rows.buckets[b];
      if (use.frames == 0) continue;
      const auto& bucket = stage.buckets[b];
      const auto frames = static_cast<std::int64_t>(use.frames);
      const auto* roofline = roofline_of(analysis, s, b);
      const double mean_rows = static_cast<double>(use.rows) / static_cast<double>(use.frames);
      made.rows.push_back(
          {{counted(bucket.rows, "row"), use.frames, cell(mean_rows, count), mean(use.times),
            p95(use.times), cell(padding_of(use.rows, frames * bucket.rows), share),
            cell(bucket.cost.flops, flops),
            roofline ? cell(roofline->roofline_time, duration) : cell(),
            roofline ? cell(roofline->ratio, ratio) : cell()},
           1});
    }
    const auto add = [&](const char* name, std::size_t frames) {
      if (frames > 0) made.rows.push_back({{name, frames, {}, {}, {}, {}, {}, {}, {}}, 1});
    };
    add("no rows", rows.without_rows);
    add("skipped", rows.skipped);
  }
  return made;
}

// ---- Batches ------------------------------------------------------------------------------------

/// Returns a histogram of the numbers of frames that ran together.
table batch_table(const batch_summary& summary, std::size_t frames) {
  table made{"batches",
             fmt::format("Batches: {:.2f} frames on average", summary.mean),
             "size",
             "",
             {{"name", "frames in a batch"},
              {.key = "batches", .title = "batches", .in = none, .compared = true},
              {"frames_share", "of frames", share},
              {"mean", "mean", duration, 0, "from the start to the end of a batch"},
              {"p95", "p95", duration, 1}}};
  made.titled = true;
  for (const auto& size : summary.sizes) {
    const auto name = size.low == size.high ? fmt::to_string(size.low)
                                            : fmt::format("{} to {}", size.low, size.high);
    const double part = static_cast<double>(size.frames) / static_cast<double>(frames);
    made.rows.push_back({{name, size.batches, cell(part, share), cell(size.times->mean(), duration),
                          cell(size.times->percentile(0.95), duration)}});
  }
  return made;
}

// ---- Where the time of frames went --------------------------------------------------------------

constexpr double least_share = 0.01;

/// Returns true if a row is negligible in every column.
bool is_small(const attribution_row& of, const attribution_summary& summary) {
  const auto little = [](double part, double whole) { return part < least_share * whole; };
  return little(of.all, summary.end_to_end.all) && little(of.typical, summary.end_to_end.typical) &&
         little(of.slowest, summary.end_to_end.slowest);
}

/// Returns true if the run has enough frames to separate typical frames from the slowest.
bool has_groups(const run_record& record) {
  return record.frames.size() >= samples_needed(0.5);
}

std::string groups_text(const attribution_summary& summary) {
  const auto count = [](const std::vector<std::size_t>& frames) {
    return counted(frames.size(), "frame");
  };
  return fmt::format("the {} around the median; slowest: 1 %, {}", count(summary.typical_frames),
                     count(summary.slowest_frames));
}

table attribution_table(const run_record& record, const attribution_summary& summary) {
  const bool groups = has_groups(record);
  const auto in_groups = groups ? everywhere : in_data;
  table made{
      "attribution",
      "Where the time of a frame goes",
      "",
      "",
      {{"name", "stage", {}, 0, "", shown},
       data_column("stage"),
       data_column("what"),
       {"goes_to", "goes to", {}, 0, "", shown},
       {"mean", "mean", duration, 2},
       {"typical", "typical", duration, 0, groups ? groups_text(summary) : "", in_groups},
       {"slowest", "slowest", duration, 0, "", in_groups},
       {.key = "more",
        .title = "more",
        .in = duration,
        .help = "slowest minus typical",
        .where = groups ? shown : in_data,
        .is_signed = true},
       {"of_more", "more %", change, 1, "", groups ? shown : in_data}},
  };
  made.titled = true;
  const double whole_more = summary.end_to_end.slowest - summary.end_to_end.typical;
  // Fractions of a negligible difference are omitted.
  const bool parts = whole_more > least_share * summary.end_to_end.typical;
  const auto add = [&](std::string name, cell stage, cell what, std::string_view goes_to,
                       const auto& of) {
    const double more = of.slowest - of.typical;
    made.rows.push_back(
        {{std::move(name), std::move(stage), std::move(what), goes_to, cell(of.all, duration),
          cell(of.typical, duration), cell(of.slowest, duration), cell(more, duration),
          parts ? cell(more / whole_more, change) : cell()}});
  };
  const auto small = std::count_if(summary.rows.begin(), summary.rows.end(),
                                   [&](const auto& one) { return is_small(one, summary); });
  attribution_row others;
  for (const auto& one : summary.rows) {
    const auto name = one.stage ? record.stages[*one.stage].name : "the frame";
    add(name, one.stage ? cell(name) : cell(), one.what, in_words(one.what), one);
    if (small < 2 || !is_small(one, summary)) continue;
    made.rows.back().where = in_data;
    others.all += one.all;
    others.typical += one.typical;
    others.slowest += one.slowest;
  }
  if (small > 1) {
    add(fmt::format("{} others", small), cell(), cell(), "under 1 % each", others);
    made.rows.back().where = shown;
  }
  add(summary.why_no_queue.empty() ? "end to end" : "begin to end", cell(), cell(), "",
      summary.end_to_end);
  made.rows.back().where = shown;
  return made;
}

/// Adds the attribution of time, and the lower bounds on the time of a frame.
void add_attribution(document& to, const run_record& record, const attribution_summary& summary) {
  to.parts.push_back(attribution_table(record, summary));
  std::vector<nanoseconds> slowest(summary.slowest_frames.begin(), summary.slowest_frames.end());
  const auto time = [](auto ns) { return cell(ns, duration); };
  to.parts.push_back(facts{"attributed",
                           "",
                           {{"why_no_queue", "", summary.why_no_queue},
                            {"mean", "", time(summary.end_to_end.all)},
                            {"typical", "", time(summary.end_to_end.typical)},
                            {"slowest", "", time(summary.end_to_end.slowest)},
                            {"residual_mean", "", time(summary.residual.all)},
                            {"residual_typical", "", time(summary.residual.typical)},
                            {"residual_slowest", "", time(summary.residual.slowest)},
                            {"residual_largest", "", time(summary.largest_residual)},
                            {"typical_frames", "", summary.typical_frames.size()},
                            {"slowest_frames", "", std::move(slowest)},
                            {"median_frame", "", summary.median_frame}},
                           in_data});
  std::vector<std::string> path;
  for (const auto stage : summary.bound_of_median.stages) path.push_back(record.stages[stage].name);
  to.parts.push_back(facts{"lower_bound",
                           "",
                           {{"running", "", time(summary.running)},
                            {"this_schedule", "", time(summary.bound)},
                            {"any_schedule", "", time(summary.bound_of_any)},
                            {"limited_by", "", summary.bound_of_median.by},
                            {"stages", "", std::move(path)}},
                           in_data});
  table on_path{"path",
                "On and off the critical path",
                "stage",
                "",
                {{"name", "stage"},
                 {"on_path", "on the path", duration, 0, "bound the frame, on average"},
                 {"off_path", "off the path", duration, 0, "hidden by overlap"},
                 {"share_of_frames", "of frames", share, 0, "that the stage bound"}},
                {},
                not_in_text};
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const auto& stage = summary.stages[i];
    on_path.rows.push_back({{record.stages[i].name, time(stage.on_path), time(stage.off_path),
                             cell(stage.share_of_frames, share)}});
  }
  to.parts.push_back(std::move(on_path));
  if (!summary.why_no_queue.empty()) {
    to.parts.push_back(note{"without queue wait: " + summary.why_no_queue});
  }
  if (summary.largest_residual != 0) {
    to.parts.push_back(
        note{fmt::format("residual: rows overlap by up to {} in a frame, where the clocks disagree",
                         format_duration(static_cast<double>(summary.largest_residual)))});
  }
}

}  // namespace

void add_run_tables(document& to, const run_record& record, const run_analysis& analysis) {
  if (!analysis.summary.end_to_end) {
    to.parts.push_back(note{"No frame was measured."});
    to.parts.push_back(stage_table(record, analysis));
    return;
  }
  to.parts.push_back(latency_facts(analysis));
  to.parts.push_back(end_to_end_table(record, analysis));
  to.parts.push_back(stage_table(record, analysis));
  if (auto rows = rows_table(record, analysis); !rows.rows.empty()) {
    to.parts.push_back(std::move(rows));
  }
  if (const auto& batches = analysis.summary.batches) {
    to.parts.push_back(batch_table(*batches, record.frames.size()));
    to.parts.push_back(
        note{"stages and graph launches are timed and counted per batch, end to end per frame"});
  }
  add_waits(to, record, analysis.summary);
  if (analysis.attribution) add_attribution(to, record, *analysis.attribution);
  if (record.prediction) {
    add_prediction_tables(to, *record.prediction, *analysis.summary.end_to_end);
  }
}

}  // namespace graphline::report
