#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/analysis/run/device_use.hpp"
#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/units.hpp"
#include "framework/record/timing_protocol.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

using enum unit;

std::string in_words(nanoseconds ns) {
  return format_duration(static_cast<double>(ns));
}

// ---- All frames together ------------------------------------------------------------------------

fact throughput_fact(const run_record& record, const run_summary& summary) {
  std::string offered;
  if (summary.load && summary.load->offered) {
    offered = fmt::format("of {} offered", to_text({*summary.load->offered, frames_per_second}));
  }
  if (const auto& prediction = record.prediction) {
    if (const auto* const figure = figure_of(*prediction, "throughput")) {
      offered += fmt::format("{}95 % from {} to {}", offered.empty() ? "" : "; ",
                             to_text({figure->low, frames_per_second}),
                             to_text({figure->high, frames_per_second}));
    }
  }
  const bool few = record.frames.size() < least_scheduled_frames && is_scheduled(record.run);
  if (record.frames.empty() || !few) {
    return {"throughput", "throughput", cell(summary.throughput, frames_per_second), offered};
  }
  const auto why = fmt::format("too few frames: on a schedule it needs {}", least_scheduled_frames);
  return {"throughput", "throughput", cell("-"), why + (offered.empty() ? "" : "; ") + offered};
}

fact deadline_fact(const deadline_summary& deadline) {
  const auto& [missed, dropped, cut_short, frames] = deadline.misses;
  auto words =
      fmt::format("of {}; deadline {}", counted(frames, "frame"), in_words(deadline.limit));
  if (dropped > 0) words += fmt::format("; {} of them dropped", dropped);
  if (cut_short > 0) words += fmt::format(" ({} cut short)", cut_short);
  if (deadline.median_late) {
    words += fmt::format("; late by {} (median), {} (worst)", in_words(*deadline.median_late),
                         in_words(*deadline.worst_late));
  }
  return {"deadline_missed", "deadline missed", missed, words};
}

fact queue_fact(const run_record& record, const load_summary& load) {
  auto words = fmt::format("of {} due; {} found the queue full; {}", load.due,
                           counted(record.load.found_full, "arrival"), most_waited(record));
  if (record.load.cut_short > 0) {
    words += fmt::format("; {} cut short at the deadline", record.load.cut_short);
  }
  if (load.unfinished > 0) {
    words += fmt::format("; {} unfinished when the run ended", load.unfinished);
  }
  return {"dropped", "frames dropped", load.dropped, words};
}

std::string launch_words(const graph_cost_summary& cost) {
  using comparison = graph_cost_summary::comparison;
  if (cost.found == comparison::too_few) {
    return "too few launches measured to tell what graph launch saves";
  }
  if (cost.found == comparison::no_difference) return "no measurable saving from graph launch";
  auto text = fmt::format("graph launch {} the host {} per frame, as measured before the run",
                          cost.found == comparison::saves ? "saves" : "costs",
                          in_words(std::abs(*cost.saving)));
  if (cost.breaks_even_after)
    text += "; breaks even after " + counted(*cost.breaks_even_after, "frame");
  return text;
}

fact graph_fact(const graph_cost_summary& cost) {
  auto words = fmt::format("{}, {}; capture {}, instantiate {}", counted(cost.nodes, "node"),
                           counted(cost.executables, "executable"), in_words(cost.capture),
                           in_words(cost.instantiate));
  if (cost.first_launch.value_or(0) > 0) {
    words += fmt::format(", first launch {} above later ones", in_words(*cost.first_launch));
  }
  if (cost.bucket_graphs > 0) {
    words += fmt::format("; buckets account for {} and {} of capture and instantiation",
                         counted(cost.bucket_graphs, "graph"), in_words(cost.bucket_setup));
  }
  return {"graphs", "graphs", cost.graphs, words + "; " + launch_words(cost)};
}

facts summary_facts(const run_record& record, const run_summary& summary) {
  facts made{"summary", "Summary", {}, shown};
  made.list.push_back(throughput_fact(record, summary));
  if (summary.end_to_end && summary.deadline) {
    made.list.push_back(deadline_fact(*summary.deadline));
  }
  if (summary.load) made.list.push_back(queue_fact(record, *summary.load));
  if (record.prediction) return made;  // it has no memory
  const auto& memory = record.memory;
  made.list.push_back(
      {"device_peak", "device memory", cell(memory.device_peak_bytes, bytes), "at peak"});
  made.list.push_back(
      {"pinned_peak", "pinned memory", cell(memory.pinned_peak_bytes, bytes), "at peak"});
  if (const auto cost = graph_cost_of(record)) made.list.push_back(graph_fact(*cost));
  return made;
}

/// Returns true if the last frame skipped the stage that writes the output.
bool was_skipped(const run_record& record, const output_record& output) {
  const auto of = std::ranges::find(record.tensors, output.tensor, &tensor_record::name);
  if (of == record.tensors.end() || !of->writer) return false;
  const auto& rows = record.stages[*of->writer].rows;
  return !rows.empty() && rows.back() == skipped;
}

/// Returns the difference from a reference; unknown without one.
cell error_text(const std::optional<double>& error) {
  if (!error) return {};
  return cell(*error < most_error ? fmt::format("{:.2g}", *error) : "not finite");
}

table output_table(const run_record& record) {
  using o = const output_record&;
  return table_of<output_record>(
      {"outputs", "Outputs of the last frame", ""},
      {{{"tensor", "output"}, [](o x) { return x.tensor; }},
       {{"type", "type", {}, 0, "", shown}, [](o x) { return to_string(x.type); }},
       {data_column("shape"),
        [](o x) {
          const auto& extents = x.type.shape.extents();
          return whole_numbers(extents.begin(), extents.end());
        }},
       {data_column("dtype"), [](o x) { return to_string(x.type.element); }},
       {{"rows", "rows", {}, 0, "", shown},
        [&](o x) {
          if (!x.rows) return cell();
          if (was_skipped(record, x)) return cell("skipped");
          const auto& extents = x.type.shape.extents();
          return cell(extents.empty() ? fmt::to_string(*x.rows)
                                      : fmt::format("{} of {}", *x.rows, extents.front()));
        }},
       {{.key = "rows_computed", .where = in_data, .optional = true},
        [](o x) { return cell(x.rows); }},
       {{"", "checksum", {}, 0, "", shown},
        [](o x) { return x.rows == 0 ? std::string() : x.checksum; }},
       {data_column("checksum"), [](o x) { return x.checksum; }},
       {data_column("finite"), [](o x) { return x.finite; }},
       {{"", "error", {}, 0, "largest difference from the reference", shown},
        [](o x) { return error_text(x.error); }},
       {{"", "relative error", {}, 0, "error over the largest value of the reference", shown},
        [](o x) { return error_text(x.relative_error); }},
       {{.key = "error", .where = in_data, .optional = true}, [](o x) { return cell(x.error); }},
       {{.key = "relative_error", .where = in_data, .optional = true},
        [](o x) { return cell(x.relative_error); }}},
      record.outputs);
}

/// Returns the operations of each stage, traced while only that stage ran.
table operation_table(const run_record& record) {
  table made{
      "operations",
      "Operations",
      "stage",
      "",
      {{"stage", "stage"},
       {"part", "part"},
       {"operation", "operation"},
       {"calls_per_frame", "calls", none},
       {"median", "each", duration, 0, "the median call"},
       {"together", "all", duration, 0, "all calls in a frame, the median"}},
  };
  made.titled = true;
  std::int64_t runs = 0;
  for (const auto& stage : record.stages) {
    runs = std::max(runs, stage.traced_runs);
    for (const auto& one : operations_of(stage)) {
      made.rows.push_back({{stage.name, unless_empty(one.part), one.name, one.calls,
                            cell(one.median, duration), cell(one.together, duration)}});
    }
  }
  if (runs > 0) {
    made.title = fmt::format("Operations, traced in {} of each stage alone (tracing slows it)",
                             counted(runs, "run"));
  }
  return made;
}

table graph_table(const run_record& record) {
  using g = const graph_record&;
  const auto time = [](const char* key, nanoseconds graph_record::*member) {
    return column_of<graph_record>{{key, "", duration},
                                   [member](g x) { return cell(x.*member, duration); }};
  };
  const auto median = [](const char* key, std::vector<nanoseconds> graph_record::*member) {
    return column_of<graph_record>{{key, "", duration}, [member](g x) {
                                     return cell(median_of_repetitions(x.*member), duration);
                                   }};
  };
  auto made = table_of<graph_record>(
      {"graphs", "", "graph"},
      {{{"name"}, [](g x) { return x.name; }},
       {{.key = "rows", .optional = true}, [](g x) { return x.rows > 0 ? cell(x.rows) : cell(); }},
       {{"nodes"}, [](g x) { return x.nodes.size(); }},
       {{"operations"}, [](g x) { return x.operations; }},
       {{"executables"}, [](g x) { return x.executables; }},
       time("capture", &graph_record::capture),
       time("instantiate", &graph_record::instantiate),
       time("first_launch", &graph_record::first_launch),
       median("later_launch", &graph_record::later_launch),
       median("launch", &graph_record::launch),
       median("eager", &graph_record::eager)},
      record.graphs);
  made.where = in_data;
  return made;
}

struct used_device {
  const device_record& of;
  std::optional<double> busy;
};

table device_table(const run_record& record) {
  const auto shares = busy_shares(record);
  std::vector<used_device> devices;
  for (std::size_t d = 0; d < record.devices.size(); ++d) {
    devices.push_back({record.devices[d], shares[d]});
  }
  using d = const used_device&;
  auto made = table_of<used_device>(
      {"devices", "Devices", "device"},
      {{{"name", "device"}, [](d x) { return x.of.name; }},
       {{"is", "is"}, [](d x) { return device_of(x.of.properties); }},
       {{"busy", "busy %", share}, [](d x) { return x.busy ? cell(*x.busy, share) : cell(); }},
       {{"memory", "memory", bytes},
        [](d x) { return cell(x.of.memory.device_peak_bytes, bytes); }},
       {{"clock_mhz", "MHz"},
        [](d x) { return x.of.after && x.of.after->clock ? cell(*x.of.after->clock) : cell(); }},
       {{"clock_error", "stamps +-", duration},
        [](d x) { return cell(x.of.clock_error, duration); }}},
      devices);
  made.titled = true;
  return made;
}

/// Adds the parts for JSON and CSV.
void add_data(document& to, const run_record& record, const run_analysis& analysis) {
  const auto& summary = analysis.summary;
  auto times = samples_of(summary.end_to_end);
  times.intervals = analysis.intervals;
  const auto add = [&](std::string key, std::vector<fact> list) {
    to.parts.push_back(facts{std::move(key), "", std::move(list), in_data});
  };
  const auto& memory = record.memory;
  add("memory", {{"device_peak_bytes", "", memory.device_peak_bytes},
                 {"pinned_bytes", "", memory.pinned_bytes},
                 {"device_bytes", "", memory.device_bytes},
                 {"pinned_peak_bytes", "", memory.pinned_peak_bytes},
                 {"allocations", "", memory.allocations}});
  add("", {{"end_to_end", "", std::move(times)}});
  add("throughput",
      {{"unit", "", "frame/s"}, {"value", "", cell(summary.throughput, frames_per_second)}});
  if (const auto& deadline = summary.deadline) {
    add("deadline", {{"limit", "", cell(deadline->limit, duration)},
                     {"missed", "", deadline->misses.missed},
                     {"frames", "", deadline->misses.frames},
                     {"median_late", "", cell(deadline->median_late, duration)},
                     {"worst_late", "", cell(deadline->worst_late, duration)}});
  }
  if (const auto& load = summary.load) {
    const auto growth = summary.overload ? summary.overload->growth : std::nullopt;
    add("load", {{"due", "", load->due},
                 {"dropped", "", load->dropped},
                 {"unfinished", "", load->unfinished},
                 {"found_full", "", record.load.found_full},
                 {"longest_queue", "", record.load.longest_queue},
                 {"offered", "", cell(load->offered, frames_per_second)},
                 {"overloaded", "", summary.overload.has_value()},
                 {"latency_growth", "", cell(growth, duration)},
                 {"queue_wait", "", samples_of(load->queue_wait)}});
  }
  add("clock", {{"error_ns", "", record.clock_error}, {"drift_ns", "", record.clock_drift}});
  add("", {{"stage_time_is", "", traits_of(record.run.timing).meaning},
           {"processor_time_ms", "", static_cast<double>(record.processor_time) / 1e6},
           {"interrupted", "", record.interrupted},
           {"failure", "", record.failure}});
}

void add_notes(document& to, const run_record& record, const run_analysis& analysis) {
  std::string text;
  const auto add = [&text](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  if (const auto why = why_absent(*analysis.summary.end_to_end); !why.empty()) add("-: " + why);
  if (const auto held_up = frames_held_up(record).size(); held_up > 0) {
    add(
        fmt::format("{} held up while the process stood still: counted in all figures but typical "
                    "and slowest, and in no gate",
                    counted(static_cast<std::int64_t>(held_up), "frame")));
  }
  if (const auto& prediction = record.prediction) {
    add(fmt::format("95 % from, to: where a further run's figure lies, by {} in virtual time; {}",
                    counted(prediction->replicates, "run"),
                    prediction->sources.size() > 1
                        ? "from the error of the model, and the variation within the sources and "
                          "between them"
                        : "from the error of the model, and the variation within the source; "
                          "several sources would show how runs differ from each other"));
  } else if (!analysis.intervals.empty()) {
    add("95 % from, to: confidence interval of the percentile, by a block bootstrap; - beyond the "
        "frames measured");
  }
  const auto timing = record.run.timing;
  add(fmt::format("timing {}: {}", to_word(timing), traits_of(timing).meaning));
  if (traits_of(timing).by_events && record.clock_error > 0) {
    add(fmt::format(
        "clock: device times are on the host's clock to within {}{}", in_words(record.clock_error),
        record.clock_drift == 0 ? ""
                                : fmt::format("; a drift of {} over the frames is taken out",
                                              in_words(std::abs(record.clock_drift)))));
  }
  to.parts.push_back(note{std::move(text)});
}

}  // namespace

document describe(const run_record& record, const run_analysis& analysis) {
  const auto& summary = analysis.summary;
  document made{"run", record.pipeline, record.description, {}, {}, {}, "stages"};
  made.predicted = record.prediction.has_value();
  made.headline = "p50";
  made.lines = heading_of(record, fmt::format("timing={}", to_word(record.run.timing)));
  add_failures(made, record, "");
  made.findings.insert(made.findings.end(), summary.findings.begin(), summary.findings.end());
  add_run_tables(made, record, analysis);
  if (analysis.attribution) {
    const auto found = attribution_findings(record, *analysis.attribution);
    made.findings.insert(made.findings.end(), found.begin(), found.end());
  }
  made.parts.push_back(summary_facts(record, summary));
  add_run_charts(made, record, analysis);
  if (record.devices.size() > 1) made.parts.push_back(device_table(record));
  made.parts.push_back(output_table(record));
  made.parts.push_back(operation_table(record));
  if (summary.end_to_end) add_notes(made, record, analysis);
  made.parts.push_back(graph_table(record));
  add_data(made, record, analysis);
  add_origin(made, record, record.run);
  return made;
}

}  // namespace graphline::report
