#include "framework/report/json/run_json.hpp"

#include <algorithm>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/run/operations.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/report/json/attribution_json.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/terminal/floor_cells.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// Least and ratio as tables show them; null without any. Times in ms.
json floor_json(const roofline_metrics* held) {
  if (held == nullptr || !held->roofline_time) return {};
  return {{"unit", "ms"},
          {"least", ms_or_null(held->roofline_time)},
          {"bound", held->by ? json(to_word(*held->by)) : json()},
          {"ratio", or_null(held->ratio)}};
}

void add_floor(json& to, const roofline_metrics* held) {
  if (auto floor = floor_json(held); !floor.is_null()) to["roofline"] = std::move(floor);
}

json parts_json(const stage_record& stage, std::size_t s, const stage_summary& summary,
                const floors& held) {
  json list = json::array();
  for (std::size_t i = 0; i < stage.parts.size(); ++i) {
    const auto& part = stage.parts[i];
    json entry = {{"name", part.name}, {"choice", part.choice}};
    if (summary.parts[i].times) {
      entry["device_time"] = distribution_json(summary.parts[i].times, device_times(part));
    }
    if (summary.parts[i].share) entry["share"] = *summary.parts[i].share;
    add_floor(entry, held.of_part(s, i));
    list.push_back(std::move(entry));
  }
  return list;
}

json operations_json(const stage_record& stage) {
  json list = json::array();
  for (const auto& operation : operations_of(stage)) {
    list.push_back({{"name", operation.name},
                    {"calls_per_frame", operation.calls},
                    {"median_ns", operation.median},
                    {"together_ns", operation.together}});
  }
  return list;
}

json stage_json(const run_record& record, std::size_t s, const stage_summary& summary,
                const floors& held) {
  const auto& stage = record.stages[s];
  json result = {{"name", stage.name}, {"kind", stage.kind}, {"on", to_word(stage.on)}};
  for (const auto& column : summary.columns) {
    result[std::string(key_of(column.what))] =
        distribution_json(column.times, times_of(stage, column.what));
  }
  if (!stage.busy.empty()) {
    const auto spans = lengths(stage.device);
    result["device_span"] = distribution_json(distribution::of(spans), spans);
  }
  if (summary.share) result["share"] = *summary.share;
  if (stage.on == side::device) result["stream"] = stage.stream;
  if (stage.copy) result["copy"] = true;
  if (!stage.parts.empty()) result["parts"] = parts_json(stage, s, summary, held);
  if (stage.traced_runs > 0) result["operations"] = operations_json(stage);
  add_floor(result, held.of_stage(s));
  return result;
}

json graph_json(const graph_record& graph) {
  const auto median = [](const std::vector<nanoseconds>& times) {
    const auto ns = median_of_repetitions(times);
    return ns ? json(*ns) : json();
  };
  json nodes = json::array();
  for (const graph_node& node : graph.nodes) {
    nodes.push_back({{"name", node.name}, {"type", node.type}, {"after", node.after}});
  }
  return {{"name", graph.name},
          {"nodes", std::move(nodes)},
          {"operations", graph.operations},
          {"executables", graph.executables},
          {"capture_ns", graph.capture},
          {"instantiate_ns", graph.instantiate},
          {"first_launch_ns", graph.first_launch},
          {"later_launch_ns", median(graph.later_launch)},
          {"launch_ns", median(graph.launch)},
          {"eager_ns", median(graph.eager)}};
}

json memory_json(const memory_usage& memory) {
  return {{"device_peak_bytes", memory.device_peak_bytes},
          {"pinned_bytes", memory.pinned_bytes},
          {"device_bytes", memory.device_bytes},
          {"pinned_peak_bytes", memory.pinned_peak_bytes},
          {"allocations", memory.allocations}};
}

json output_json(const output_record& output) {
  return {{"tensor", output.tensor},     {"shape", output.type.shape.extents()},
          {"checksum", output.checksum}, {"dtype", to_string(output.type.element)},
          {"finite", output.finite},     {"values", output.values}};
}

/// Of each percentile that is carried, the ends in ms.
json intervals_json(const std::vector<percentile_interval>& intervals) {
  json result = json::object();
  for (const auto& of : intervals) {
    result[percentile_name(of.p)] = {{"low", ms_or_null(of.low)}, {"high", ms_or_null(of.high)}};
  }
  return result;
}

json load_json(const run_record& record, const run_summary& summary) {
  const auto& load = *summary.load;
  const auto growth = summary.overload ? summary.overload->growth : std::nullopt;
  json dropped = json::array();
  for (const auto due : record.load.dropped) {
    dropped.push_back(milliseconds(due));
  }
  return {{"due", load.due},
          {"dropped", load.dropped},
          {"dropped_due_ms", std::move(dropped)},
          {"found_full", record.load.found_full},
          {"longest_queue", record.load.longest_queue},
          {"offered", {{"unit", "frame/s"}, {"value", or_null(load.offered)}}},
          {"overloaded", summary.overload.has_value()},
          {"latency_growth", {{"unit", "ms/s"}, {"value", ms_or_null(growth)}}},
          {"queue_wait", distribution_json(load.queue_wait, queue_wait_times(record))}};
}

}  // namespace

void write_run_json(text_sink& to, const run_record& record, const run_analysis& analysis) {
  const auto& summary = analysis.summary;
  auto result = json::object();
  result["schema"] = "graphline.run/1";
  result["pipeline"] = record.pipeline;
  result["device"] = device_json(record.device);
  result["settings"] = settings_json(record);
  result["environment"] = texts_json(record.environment);
  if (record.conditions) result["conditions"] = texts_json(facts_of(*record.conditions));
  result["memory"] = memory_json(record.memory);
  result["end_to_end"] = distribution_json(summary.end_to_end, end_to_end_times(record));
  result["end_to_end"]["intervals"] = intervals_json(analysis.intervals);
  result["throughput"] = {{"unit", "frame/s"}, {"value", or_null(summary.throughput)}};
  if (const auto& why = summary.why_no_throughput; !why.empty()) {
    result["throughput"]["why_absent"] = why;
  }
  const floors held(analysis.roofline);
  json stages = json::array();
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    stages.push_back(stage_json(record, i, summary.stages[i], held));
  }
  result["stages"] = std::move(stages);
  json outputs = json::array();
  for (const auto& output : record.outputs) outputs.push_back(output_json(output));
  result["outputs"] = std::move(outputs);
  result["warnings"] = summary.warnings;
  result["findings"] = summary.findings;
  if (summary.deadline) result["deadline"] = deadline_json(*summary.deadline);
  if (const auto& attribution = analysis.attribution) {
    result["attribution"] = attribution_json(record, *attribution);
  }
  if (summary.load) result["load"] = load_json(record, summary);
  result["processor_time_ms"] = milliseconds(record.processor_time);
  result["description"] = record.description;
  result["stage_time_is"] = meaning_of(record.run.timing);
  result["clock_error_ns"] = record.clock_error;
  result["clock"] = {{"error_ns", record.clock_error}, {"drift_ns", record.clock_drift}};
  json graphs = json::array();
  for (const auto& graph : record.graphs) graphs.push_back(graph_json(graph));
  result["graphs"] = std::move(graphs);
  result["interrupted"] = record.interrupted;
  result["failure"] = or_null(record.failure);
  const last_entry raw = {"record", [&record](text_sink& sink) {
                            compact_json text(sink);
                            write_record(text, record);
                            text.finish();
                          }};
  write_json(to, result, &raw);
}

std::uint64_t expected_json_bytes(std::int64_t frames, std::size_t stages) {
  constexpr std::uint64_t around = 16384;       // device, settings, environment, outputs
  constexpr std::uint64_t around_stage = 1024;  // names and percentiles
  constexpr std::uint64_t sample = sizeof "1234.123456,";
  const auto samples = static_cast<std::uint64_t>(std::max<std::int64_t>(frames, 0));
  // A frame has its time and, on a schedule, its wait; a device stage its time and the time to
  // enqueue it. The record has when each of these began and ended, and the stage's thread.
  constexpr std::uint64_t stamp = sizeof "123456789012,";
  return around + stages * around_stage + samples * sample * (2 + 2 * stages) +
         samples * (3 * stamp + stages * (4 * stamp + sizeof "0,"));
}

}  // namespace graphline
