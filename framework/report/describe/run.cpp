#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/run/operations.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/units.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline::report {

namespace {

using enum unit;

constexpr auto hidden = in_page | in_data;

std::string in_words(nanoseconds ns) {
  return format_duration(static_cast<double>(ns));
}

template <class T>
cell whole(T number) {
  return quantity{static_cast<double>(number), none};
}

sampled samples_of(const std::optional<distribution>& times, std::vector<nanoseconds> in_order) {
  return {times ? std::make_shared<const distribution>(*times) : nullptr, std::move(in_order)};
}

// ---- Times --------------------------------------------------------------------------------------

/// A figure of a sample, as every table of a run has them.
struct statistic {
  std::string title;
  int rank = 0;  ///< of its column in a table of stages
  std::function<std::optional<double>(const distribution&)> of = {};
};

std::vector<statistic> statistics(const std::optional<distribution>& end_to_end) {
  const auto settled = [](auto get) {
    return [get](const distribution& d) {
      return d.why_unsettled().empty() ? std::optional<double>(get(d)) : std::nullopt;
    };
  };
  std::vector<statistic> list = {
      {"mean", 0, settled([](const distribution& d) { return std::optional(d.mean()); })},
      {"stddev", 6, settled([](const distribution& d) { return d.stddev(); })},
      {"min", 15, [](const distribution& d) { return static_cast<double>(d.min()); }}};
  constexpr int ranks[] = {0, 5, 13, 12, 14};
  static_assert(std::size(ranks) == std::size(shown_percentiles));
  const auto shown = end_to_end ? percentiles_of_table(*end_to_end).size() : 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, p] = shown_percentiles[i];
    list.push_back(
        {std::string(name), ranks[i], [p = p](const distribution& d) -> std::optional<double> {
           const auto value = d.percentile(p);
           return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
         }});
  }
  list.push_back({"max", 2, [](const distribution& d) { return static_cast<double>(d.max()); }});
  return list;
}

/// A row of the figures, and below the percentiles the ends of their intervals.
table end_to_end_table(const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  table made{"end_to_end_times", "End to end", "", "", {{"frames", "end to end"}}, {}, shown};
  row values{{counted(static_cast<std::int64_t>(times.count()), "frame")}};
  row from{{"95 % from"}};
  row to{{"to"}};
  for (const auto& one : statistics(times)) {
    made.columns.push_back({one.title, one.title, duration});
    values.cells.push_back(cell(one.of(times), duration));
    const auto interval = std::find_if(
        analysis.intervals.begin(), analysis.intervals.end(),
        [&](const percentile_interval& of) { return percentile_name(of.p) == one.title; });
    const bool known = interval != analysis.intervals.end();
    from.cells.push_back(known ? cell(interval->low, duration) : cell(""));
    to.cells.push_back(known ? cell(interval->high, duration) : cell(""));
  }
  made.columns.push_back({"histogram", "histogram", {}, 11});
  values.cells.push_back(samples_of(times, {}));
  from.cells.emplace_back("");
  to.cells.emplace_back("");
  made.rows.push_back(std::move(values));
  if (!analysis.intervals.empty()) {
    made.rows.push_back(std::move(from));
    made.rows.push_back(std::move(to));
  }
  return made;
}

/// What a page begins with and a comparison goes by.
facts latency_facts(const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  facts made{"latency", "End to end", {}, in_page};
  for (const auto& one : statistics(times)) {
    if (one.title == "stddev" || one.title == "min") continue;
    made.list.push_back({one.title, "end to end " + one.title, cell(one.of(times), duration), ""});
  }
  return made;
}

// ---- Stages and parts ---------------------------------------------------------------------------

const roofline_stage* roofline_of(const run_analysis& analysis, std::size_t stage) {
  if (!analysis.roofline) return nullptr;
  const auto& list = analysis.roofline->stages;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [stage](const auto& one) { return one.stage == stage; });
  return found == list.end() ? nullptr : &*found;
}

class stage_rows {
 public:
  stage_rows(const run_record& record, const run_analysis& analysis)
      : record_(record),
        analysis_(analysis),
        statistics_(statistics(analysis.summary.end_to_end)) {}

  table made() const {
    table made{"stages", "Stages", "stage", "part", columns(), {}};
    for (std::size_t s = 0; s < record_.stages.size(); ++s) {
      const auto& stage = record_.stages[s];
      const auto& summary = analysis_.summary.stages[s];
      const auto* held = roofline_of(analysis_, s);
      made.rows.push_back(row_of_stage(stage, summary, held));
      for (std::size_t p = 0; p < stage.parts.size(); ++p) {
        const auto* metrics = held && p < held->parts.size() ? &held->parts[p] : nullptr;
        made.rows.push_back(row_of_part(stage.parts[p], summary.parts[p], metrics));
      }
    }
    return made;
  }

 private:
  std::vector<column> columns() const {
    std::vector<column> list = {{"name", "stage"},
                                {"kind", "kind", {}, 0, "", hidden},
                                {"on", "", {}, 0, "", in_data},
                                {"stream", "stream", {}, 0, "", hidden},
                                {"copy", "", {}, 0, "", in_data},
                                {"kernel", "kernel", {}, 16, "", everywhere},
                                {"time_is", "time is", {}, 3, "", shown, true}};
    for (auto& one : list) one.optional = one.key != "name";
    for (const auto& one : statistics_) {
      list.push_back({one.title, one.title, duration, one.rank, "", shown, one.title == "p50"});
    }
    const bool parts = record_.run.timing == timing_method::layers;
    list.push_back({"share", "share %", share, 1,
                    fmt::format("% of the mean end-to-end time{}; overlapping stages can exceed "
                                "100 %",
                                parts ? " (of parts: of their stage)" : "")});
    list.push_back({"roofline_time", "bound", duration, 4,
                    record_.calibration
                        ? fmt::format("roofline time at the ceilings calibrated on {}",
                                      record_.calibration->date.substr(0, 10))
                        : ""});
    list.push_back({"bound", "", {}, 0, "", in_data});
    list.push_back({"ratio", "ratio", ratio, 1, "p50 over bound"});
    for (auto one = list.end() - 3; one != list.end(); ++one) one->optional = true;
    list.push_back({"enqueue", "enqueue", duration, 3, "", shown});
    list.push_back({"histogram", "histogram", {}, 11, "", shown});
    for (const char* key :
         {"device_time", "synchronized_time", "enqueue_time", "cpu_time", "device_span"}) {
      list.push_back({key, "", {}, 0, "", in_data});
      list.back().optional = true;
    }
    return list;
  }

  void add_times(row& to, const std::optional<distribution>& times) const {
    for (const auto& one : statistics_) {
      to.cells.push_back(times ? cell(one.of(*times), duration) : cell());
    }
  }

  static void add_roofline(row& to, const roofline_metrics* of) {
    to.cells.push_back(of ? cell(of->roofline_time, duration) : cell());
    to.cells.push_back(of && of->by ? cell(to_word(*of->by)) : cell());
    to.cells.push_back(of ? cell(of->ratio, ratio) : cell());
  }

  /// Of the time that stands for a stage, and all that was measured of it.
  row row_of_stage(const stage_record& stage, const stage_summary& summary,
                   const roofline_stage* held) const {
    const auto& columns = summary.columns;
    const auto times = columns.empty() ? std::nullopt : columns.front().times;
    const auto enqueue = columns.size() > 1 ? columns[1].times : std::nullopt;
    row made{{stage.name, stage.kind, to_word(stage.on),
              stage.stream.empty() ? cell() : cell(stage.stream), stage.copy ? cell(true) : cell(),
              cell(), times ? cell(short_name(columns.front().what)) : cell()}};
    add_times(made, times);
    made.cells.push_back(cell(summary.share, share));
    add_roofline(made, held ? &held->figures : nullptr);
    made.cells.push_back(enqueue ? cell(std::optional(enqueue->mean()), duration) : cell(""));
    made.cells.push_back(samples_of(times, {}));
    for (const auto what : {measure::device_time, measure::synchronized_time, measure::enqueue_time,
                            measure::cpu_time}) {
      const auto found = std::find_if(columns.begin(), columns.end(),
                                      [what](const auto& one) { return one.what == what; });
      made.cells.push_back(
          found == columns.end() ? cell() : cell(samples_of(found->times, times_of(stage, what))));
    }
    if (stage.busy.empty()) {
      made.cells.emplace_back();
    } else {
      auto spans = lengths(stage.device);
      const auto of_spans = distribution::of(spans);
      made.cells.push_back(samples_of(of_spans, std::move(spans)));
    }
    if (!times) made.where = in_data;
    return made;
  }

  row row_of_part(const part_record& part, const stage_summary::part& summary,
                  const roofline_metrics* held) const {
    row made{{part.name, cell(), cell(), cell(), cell(),
              part.choice.empty() ? cell() : cell(part.choice), cell()},
             1};
    add_times(made, summary.times);
    made.cells.push_back(cell(summary.share, share));
    add_roofline(made, held);
    made.cells.emplace_back();
    made.cells.push_back(samples_of(summary.times, {}));
    made.cells.push_back(summary.times ? cell(samples_of(summary.times, device_times(part)))
                                       : cell());
    for (int rest = 0; rest < 4; ++rest) made.cells.emplace_back();
    if (!summary.times) made.where = in_data;
    return made;
  }

  const run_record& record_;
  const run_analysis& analysis_;
  std::vector<statistic> statistics_;
};

/// As a trace of each stage alone saw them; in planned order.
table operation_table(const run_record& record) {
  table made{"operations",
             "Operations",
             "stage",
             "",
             {{"stage", "stage"},
              {"operation", "operation"},
              {"calls_per_frame", "calls", none},
              {"median", "each", duration, 0, "the median call"},
              {"together", "all", duration, 0, "all calls in a frame, the median"}},
             {}};
  made.titled = true;
  std::int64_t runs = 0;
  for (const auto& stage : record.stages) {
    runs = std::max(runs, stage.traced_runs);
    for (const auto& one : operations_of(stage)) {
      made.rows.push_back({{stage.name, one.name, whole(one.calls),
                            quantity{static_cast<double>(one.median), duration},
                            quantity{static_cast<double>(one.together), duration}}});
    }
  }
  if (runs > 0) {
    made.title = fmt::format("Operations, traced in {} of each stage alone (tracing slows it)",
                             counted(runs, "run"));
  }
  return made;
}

// ---- Where the time of a frame goes -------------------------------------------------------------

constexpr double least_share = 0.01;

/// Whether a row takes so little in every column that it need not stand alone.
bool is_small(const attribution_row& of, const attribution_summary& summary) {
  const auto little = [](double part, double whole) { return part < least_share * whole; };
  return little(of.all, summary.end_to_end.all) && little(of.typical, summary.end_to_end.typical) &&
         little(of.slowest, summary.end_to_end.slowest);
}

/// Few frames have none that are typical, to compare the slowest with.
bool has_groups(const run_record& record) {
  return record.frames.size() >= samples_needed(0.5);
}

std::string groups_text(const attribution_summary& summary) {
  const auto count = [](const std::vector<std::size_t>& frames) {
    return counted(static_cast<std::int64_t>(frames.size()), "frame");
  };
  return fmt::format("typical: the {} around the median; slowest: 1 %, {}",
                     count(summary.typical_frames), count(summary.slowest_frames));
}

table attribution_table(const run_record& record, const attribution_summary& summary) {
  const bool groups = has_groups(record);
  const auto in_groups = groups ? everywhere : in_data;
  table made{"attribution",
             "Where the time of a frame goes",
             "",
             "",
             {{"name", "stage", {}, 0, "", shown},
              {"stage", "", {}, 0, "", in_data},
              {"what", "", {}, 0, "", in_data},
              {"goes_to", "goes to", {}, 0, "", shown},
              {"mean", "mean", duration, 2},
              {"typical", "typical", duration, 0, groups ? groups_text(summary) : "", in_groups},
              {"slowest", "slowest", duration, 0, "", in_groups},
              {"more", "more", duration, 0, "slowest minus typical", groups ? shown : in_data},
              {"of_more", "more %", change, 1, "", groups ? shown : in_data}},
             {}};
  made.titled = true;
  made.columns[7].is_signed = true;
  const double whole_more = summary.end_to_end.slowest - summary.end_to_end.typical;
  // Where slow frames are hardly slower there is nothing to take parts of.
  const bool parts = whole_more > least_share * summary.end_to_end.typical;
  const auto add = [&](std::string name, cell stage, cell what, std::string_view goes_to,
                       const auto& of) {
    const double more = of.slowest - of.typical;
    made.rows.push_back(
        {{std::move(name), std::move(stage), std::move(what), goes_to, quantity{of.all, duration},
          quantity{of.typical, duration}, quantity{of.slowest, duration}, quantity{more, duration},
          parts ? cell(quantity{more / whole_more, change}) : cell()}});
  };
  const auto small = std::count_if(summary.rows.begin(), summary.rows.end(),
                                   [&](const auto& one) { return is_small(one, summary); });
  attribution_row others;
  for (const auto& one : summary.rows) {
    const auto name = one.stage ? record.stages[*one.stage].name : "the frame";
    add(name, one.stage ? cell(name) : cell(), to_word(one.what), graphline::in_words(one.what),
        one);
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

void add_attribution(document& to, const run_record& record, const attribution_summary& summary) {
  to.parts.push_back(attribution_table(record, summary));
  std::vector<nanoseconds> slowest(summary.slowest_frames.begin(), summary.slowest_frames.end());
  const auto time = [](double ns) { return quantity{ns, duration}; };
  to.parts.push_back(
      facts{"attributed",
            "",
            {{"why_no_queue", "", summary.why_no_queue, ""},
             {"mean", "", time(summary.end_to_end.all), ""},
             {"typical", "", time(summary.end_to_end.typical), ""},
             {"slowest", "", time(summary.end_to_end.slowest), ""},
             {"residual_mean", "", time(summary.residual.all), ""},
             {"residual_typical", "", time(summary.residual.typical), ""},
             {"residual_slowest", "", time(summary.residual.slowest), ""},
             {"residual_largest", "", time(static_cast<double>(summary.largest_residual)), ""},
             {"typical_frames", "", whole(summary.typical_frames.size()), ""},
             {"slowest_frames", "", std::move(slowest), ""},
             {"median_frame", "", whole(summary.median_frame), ""}},
            in_data});
  std::vector<std::string> path;
  for (const auto stage : summary.bound_of_median.stages) path.push_back(record.stages[stage].name);
  to.parts.push_back(facts{"lower_bound",
                           "",
                           {{"running", "", time(summary.running), ""},
                            {"this_schedule", "", cell(summary.bound, duration), ""},
                            {"any_schedule", "", cell(summary.bound_of_any, duration), ""},
                            {"limited_by", "", to_word(summary.bound_of_median.by), ""},
                            {"stages", "", std::move(path), ""}},
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
                hidden};
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const auto& stage = summary.stages[i];
    on_path.rows.push_back({{record.stages[i].name, time(stage.on_path), time(stage.off_path),
                             quantity{stage.share_of_frames, share}}});
  }
  to.parts.push_back(std::move(on_path));
  if (!summary.why_no_queue.empty()) {
    to.parts.push_back(note{"without queue wait: " + summary.why_no_queue});
  }
  if (summary.largest_residual != 0) {
    to.parts.push_back(
        note{fmt::format("residual: rows overlap by up to {} in a frame, where the clocks disagree",
                         in_words(summary.largest_residual))});
  }
}

// ---- All frames together ------------------------------------------------------------------------

fact throughput_fact(const run_summary& summary) {
  std::string offered;
  if (summary.load && summary.load->offered) {
    offered = fmt::format("of {} offered", to_text({*summary.load->offered, frames_per_second}));
  }
  if (summary.throughput) {
    return {"throughput", "throughput", quantity{*summary.throughput, frames_per_second}, offered};
  }
  const auto& why = summary.why_no_throughput;
  return {"throughput", "throughput", why.empty() ? cell() : cell("-"),
          why + (why.empty() || offered.empty() ? "" : "; ") + offered};
}

fact deadline_fact(const deadline_summary& deadline, std::size_t frames, std::size_t dropped) {
  auto words =
      fmt::format("of {}; deadline {}", counted(static_cast<std::int64_t>(frames), "frame"),
                  in_words(deadline.limit));
  if (deadline.missed > 0) {
    words += fmt::format("; late by {} (median), {} (worst)", in_words(*deadline.median_late),
                         in_words(*deadline.worst_late));
  }
  if (dropped > 0) words += fmt::format("; {} more dropped", dropped);
  return {"deadline_missed", "deadline missed", whole(deadline.missed), words};
}

fact queue_fact(const run_record& record, const load_summary& load) {
  auto words = fmt::format("of {} due; {} found the queue full; {}", load.due,
                           counted(record.load.found_full, "arrival"), most_waited(record));
  if (const auto& wait = load.queue_wait) {
    words += fmt::format("; queue wait {} (median), {} (worst)",
                         wait->why_unsettled().empty() ? in_words(wait->median()) : "-",
                         in_words(wait->max()));
  }
  return {"dropped", "frames dropped", whole(load.dropped), words};
}

std::string launch_words(const graph_cost_summary& cost) {
  switch (cost.found) {
    case graph_cost_summary::comparison::too_few:
      return "too few launches measured to tell what graph launch saves";
    case graph_cost_summary::comparison::no_difference:
      return "no measurable saving from graph launch";
    case graph_cost_summary::comparison::costs:
      return fmt::format("graph launch takes the host {} more per frame than enqueueing",
                         in_words(std::abs(*cost.saving)));
    case graph_cost_summary::comparison::saves:
      break;
  }
  auto text = fmt::format("graph launch saves the host {} per frame", in_words(*cost.saving));
  if (!cost.paid_after) return text;
  return text + "; breaks even after " + counted(*cost.paid_after, "frame");
}

fact graph_fact(const graph_cost_summary& cost) {
  auto words = counted(static_cast<std::int64_t>(cost.nodes), "node");
  if (cost.executables > cost.graphs) {
    words += ", " + counted(static_cast<std::int64_t>(cost.executables), "executable");
  }
  words += fmt::format("; capture {}, instantiate {}", in_words(cost.capture),
                       in_words(cost.instantiate));
  if (cost.first_launch && *cost.first_launch > 0) {
    words += fmt::format(", first launch {} above later ones", in_words(*cost.first_launch));
  }
  return {"graphs", "graphs", whole(cost.graphs), words + "; " + launch_words(cost)};
}

facts summary_facts(const run_record& record, const run_summary& summary) {
  facts made{"summary", "Summary", {}, shown};
  made.list.push_back(throughput_fact(summary));
  const auto dropped = record.load.dropped.size();
  if (summary.end_to_end && summary.deadline) {
    made.list.push_back(deadline_fact(*summary.deadline, record.frames.size(), dropped));
  }
  if (summary.load) made.list.push_back(queue_fact(record, *summary.load));
  const auto& memory = record.memory;
  made.list.push_back({"device_peak", "device memory",
                       quantity{static_cast<double>(memory.device_peak_bytes), bytes}, "at peak"});
  made.list.push_back({"pinned_peak", "pinned memory",
                       quantity{static_cast<double>(memory.pinned_peak_bytes), bytes}, "at peak"});
  if (const auto cost = graph_cost_of(record)) made.list.push_back(graph_fact(*cost));
  return made;
}

table output_table(const run_record& record) {
  table made{"outputs",
             "Outputs of the last frame",
             "",
             "",
             {{"tensor", "output"},
              {"type", "type", {}, 0, "", shown},
              {"shape", "", {}, 0, "", in_data},
              {"dtype", "", {}, 0, "", in_data},
              {"checksum", "checksum"},
              {"finite", "", {}, 0, "", in_data}},
             {}};
  for (const auto& one : record.outputs) {
    const auto& extents = one.type.shape.extents();
    made.rows.push_back(
        {{one.tensor, to_string(one.type), std::vector<nanoseconds>(extents.begin(), extents.end()),
          to_string(one.type.element), one.checksum, one.finite}});
  }
  return made;
}

table graph_table(const run_record& record) {
  table made{"graphs",
             "",
             "graph",
             "",
             {{"name", ""},
              {"nodes", "", none},
              {"operations", "", none},
              {"executables", "", none},
              {"capture", "", duration},
              {"instantiate", "", duration},
              {"first_launch", "", duration},
              {"later_launch", "", duration},
              {"launch", "", duration},
              {"eager", "", duration}},
             {},
             in_data};
  for (const auto& one : record.graphs) {
    const auto time = [](nanoseconds ns) { return quantity{static_cast<double>(ns), duration}; };
    const auto median = [](const std::vector<nanoseconds>& of) {
      return cell(median_of_repetitions(of), duration);
    };
    made.rows.push_back(
        {{one.name, whole(one.nodes.size()), whole(one.operations), whole(one.executables),
          time(one.capture), time(one.instantiate), time(one.first_launch),
          median(one.later_launch), median(one.launch), median(one.eager)}});
  }
  return made;
}

/// What programs read and people do not, or see in other words.
void add_data(document& to, const run_record& record, const run_analysis& analysis) {
  const auto& summary = analysis.summary;
  auto times = samples_of(summary.end_to_end, end_to_end_times(record));
  times.intervals = analysis.intervals;
  const auto add = [&](std::string key, std::vector<fact> list) {
    to.parts.push_back(facts{std::move(key), "", std::move(list), in_data});
  };
  const auto& memory = record.memory;
  add("memory", {{"device_peak_bytes", "", whole(memory.device_peak_bytes), ""},
                 {"pinned_bytes", "", whole(memory.pinned_bytes), ""},
                 {"device_bytes", "", whole(memory.device_bytes), ""},
                 {"pinned_peak_bytes", "", whole(memory.pinned_peak_bytes), ""},
                 {"allocations", "", whole(memory.allocations), ""}});
  add("", {{"end_to_end", "", std::move(times), ""}});
  add("throughput", {{"unit", "", "frame/s", ""},
                     {"value", "", cell(summary.throughput, frames_per_second), ""}});
  if (const auto& why = summary.why_no_throughput; !why.empty()) {
    std::get<facts>(to.parts.back()).list.push_back({"why_absent", "", why, ""});
  }
  if (const auto& deadline = summary.deadline) {
    add("deadline", {{"limit", "", cell(std::optional(deadline->limit), duration), ""},
                     {"missed", "", whole(deadline->missed), ""},
                     {"median_late", "", cell(deadline->median_late, duration), ""},
                     {"worst_late", "", cell(deadline->worst_late, duration), ""}});
  }
  if (const auto& load = summary.load) {
    const auto growth = summary.overload ? summary.overload->growth : std::nullopt;
    add("load", {{"due", "", whole(load->due), ""},
                 {"dropped", "", whole(load->dropped), ""},
                 {"found_full", "", whole(record.load.found_full), ""},
                 {"longest_queue", "", whole(record.load.longest_queue), ""},
                 {"offered", "", cell(load->offered, frames_per_second), ""},
                 {"overloaded", "", summary.overload.has_value(), ""},
                 {"latency_growth", "", cell(growth, duration), ""},
                 {"queue_wait", "", samples_of(load->queue_wait, queue_wait_times(record)), ""}});
  }
  add("clock", {{"error_ns", "", whole(record.clock_error), ""},
                {"drift_ns", "", whole(record.clock_drift), ""}});
  add("", {{"stage_time_is", "", meaning_of(record.run.timing), ""},
           {"processor_time_ms", "", whole(static_cast<double>(record.processor_time) / 1e6), ""},
           {"interrupted", "", record.interrupted, ""},
           {"failure", "", record.failure ? cell(*record.failure) : cell(), ""}});
}

/// How the tables are to be read.
void add_notes(document& to, const run_record& record, const run_analysis& analysis) {
  std::string text;
  const auto add = [&text](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  if (const auto why = why_absent(*analysis.summary.end_to_end); !why.empty()) add("-: " + why);
  if (!analysis.intervals.empty()) {
    add("95 % from, to: confidence interval of the percentile, by a block bootstrap; - beyond the "
        "frames measured");
  }
  const auto timing = record.run.timing;
  add(fmt::format("timing {}: {}", to_word(timing), meaning_of(timing)));
  const bool device_times = timing == timing_method::event || timing == timing_method::layers;
  if (device_times && record.clock_error > 0) {
    add(fmt::format(
        "clock: device times are on the host's clock to within {}{}", in_words(record.clock_error),
        record.clock_drift == 0 ? ""
                                : fmt::format("; a drift of {} over the frames is taken out",
                                              in_words(std::abs(record.clock_drift)))));
  }
  to.parts.push_back(note{std::move(text)});
}

}  // namespace

document describe(const run_record& record, const run_analysis& analysis,
                  const std::optional<std::vector<std::size_t>>& page_frames) {
  const auto& summary = analysis.summary;
  document made{"run", record.pipeline, record.description, {}, {}, {}, "stages"};
  made.headline = "p50";
  made.lines = heading_of(record, fmt::format("timing {}", to_word(record.run.timing)));
  add_failures(made, record, "");
  made.findings.insert(made.findings.end(), summary.findings.begin(), summary.findings.end());
  if (summary.end_to_end) {
    made.parts.push_back(latency_facts(analysis));
    made.parts.push_back(end_to_end_table(analysis));
    made.parts.push_back(stage_rows(record, analysis).made());
    if (analysis.attribution) {
      add_attribution(made, record, *analysis.attribution);
      const auto found = attribution_findings(record, *analysis.attribution);
      made.findings.insert(made.findings.end(), found.begin(), found.end());
    }
  } else {
    made.parts.push_back(note{"No frame was measured."});
    made.parts.push_back(stage_rows(record, analysis).made());
  }
  made.parts.push_back(summary_facts(record, summary));
  if (page_frames) add_run_charts(made, record, analysis, *page_frames);
  made.parts.push_back(output_table(record));
  made.parts.push_back(operation_table(record));
  if (summary.end_to_end) add_notes(made, record, analysis);
  made.parts.push_back(graph_table(record));
  add_data(made, record, analysis);
  add_origin(made, record);
  return made;
}

}  // namespace graphline::report
