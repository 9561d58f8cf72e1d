#include <fmt/format.h>

#include <cmath>

#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/units.hpp"
#include "framework/report/describe/run_tables.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline::report {

namespace {

using enum unit;

std::string in_words(nanoseconds ns) {
  return format_duration(static_cast<double>(ns));
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
    made.parts.push_back(stage_table(record, analysis));
    if (analysis.attribution) {
      add_attribution(made, record, *analysis.attribution);
      const auto found = attribution_findings(record, *analysis.attribution);
      made.findings.insert(made.findings.end(), found.begin(), found.end());
    }
  } else {
    made.parts.push_back(note{"No frame was measured."});
    made.parts.push_back(stage_table(record, analysis));
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
