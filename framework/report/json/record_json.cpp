#include "framework/report/json/record_json.hpp"

#include "framework/base/words.hpp"
#include "framework/report/json/roofline_inputs_json.hpp"

namespace graphline {

namespace {

/// A column of `rows`, by what `get` takes from each.
template <class T, class Get>
void write_column(compact_json& to, std::string_view name, const std::vector<T>& rows, Get get) {
  to.key(name).open('[');
  for (const auto& row : rows) to.value(get(row));
  to.close(']');
}

/// Left out when there is none: a timing method fills some columns only.
void write_stamps(compact_json& to, std::string_view name, const std::vector<stamp_pair>& stamps) {
  if (stamps.empty()) return;
  to.key(name).open('{');
  write_column(to, "begin", stamps, [](const stamp_pair& s) { return s.begin; });
  write_column(to, "end", stamps, [](const stamp_pair& s) { return s.end; });
  to.close('}');
}

void write_busy(compact_json& to, const std::vector<nanoseconds>& busy) {
  if (!busy.empty()) to.member("busy", busy);
}

/// Left out when nothing is known.
void write_known_cost(compact_json& to, const cost_record& cost) {
  if (cost != cost_record()) write_cost(to.key("cost"), cost);
}

void write_stage(compact_json& to, const stage_record& stage) {
  to.open('{').member("name", stage.name).member("kind", stage.kind);
  to.member("on", to_word(stage.on)).member("copy", stage.copy).member("stream", stage.stream);
  to.member("priority", to_word(stage.priority)).key("waits").open('[');
  for (const auto& wait : stage.waits) {
    to.open('{').member("stage", wait.stage).member("how", to_word(wait.how)).close('}');
  }
  to.close(']');
  write_known_cost(to, stage.cost);
  write_stamps(to, "enqueued", stage.enqueued);
  write_stamps(to, "device", stage.device);
  write_busy(to, stage.busy);
  write_stamps(to, "synced", stage.synced);
  write_stamps(to, "cpu", stage.cpu);
  if (!stage.threads.empty()) to.member("threads", stage.threads);
  to.key("parts").open('[');
  for (const auto& part : stage.parts) {
    to.open('{').member("name", part.name).member("choice", part.choice);
    write_known_cost(to, part.cost);
    write_stamps(to, "device", part.device);
    write_busy(to, part.busy);
    to.close('}');
  }
  to.close(']').key("operations").open('[');
  for (const auto& operation : stage.operations) {
    to.open('{').member("name", operation.name).member("calls", operation.calls);
    to.member("together", operation.together).close('}');
  }
  to.close(']').member("traced_runs", stage.traced_runs).close('}');
}

void write_graph(compact_json& to, const graph_record& graph) {
  to.open('{').member("name", graph.name).member("operations", graph.operations);
  to.member("executables", graph.executables).member("capture_ns", graph.capture);
  to.member("instantiate_ns", graph.instantiate).member("first_launch_ns", graph.first_launch);
  to.member("later_launch_ns", graph.later_launch).member("launch_ns", graph.launch);
  to.member("eager_ns", graph.eager).close('}');
}

void write_device(compact_json& to, const device_properties& device) {
  to.open('{').member("backend", device.backend).member("name", device.name);
  to.member("memory_bytes", device.memory_bytes);
  to.member("compute_threads", device.compute_threads);
  to.member("priority_levels", device.priority_levels);
  to.member("one_at_a_time", device.one_at_a_time);
  to.member("tells_busy_time", device.tells_busy_time).member("details", device.details);
  to.close('}');
}

void write_state(compact_json& to, std::string_view name,
                 const std::optional<device_state>& state) {
  if (!state) return;
  to.key(name).open('{').member("clock_mhz", state->clock);
  to.member("memory_clock_mhz", state->memory_clock).member("slowed_by", state->slowed_by);
  to.member("other_processes", state->other_processes).close('}');
}

void write_conditions(compact_json& to, const conditions_record& c) {
  to.open('{').member("lasted_ns", c.lasted).member("cores", c.cores);
  to.member("load_before", c.load_before).member("load_after", c.load_after);
  to.member("steal_ns", c.steal).member("others_ns", c.others);
  to.member("clock_mhz_before", c.clock_before).member("clock_mhz_after", c.clock_after);
  write_state(to, "device_before", c.device_before);
  write_state(to, "device_after", c.device_after);
  to.key("threads").open('[');
  for (const auto& t : c.threads) {
    to.open('{').member("thread", t.thread).member("on_cpu_ns", t.on_cpu);
    to.member("waited_ns", t.waited).close('}');
  }
  to.close(']').close('}');
}

void write_memory(compact_json& to, const memory_usage& memory) {
  to.open('{').member("device_bytes", memory.device_bytes);
  to.member("device_peak_bytes", memory.device_peak_bytes);
  to.member("pinned_bytes", memory.pinned_bytes);
  to.member("pinned_peak_bytes", memory.pinned_peak_bytes);
  to.member("allocations", memory.allocations).close('}');
}

void write_output(compact_json& to, const output_record& output) {
  to.open('{').member("tensor", output.tensor);
  to.member("shape", output.type.shape.extents());
  to.member("dtype", to_string(output.type.element)).member("checksum", output.checksum);
  to.member("finite", output.finite).member("values", output.values).close('}');
}

void write_tensor(compact_json& to, const tensor_record& tensor) {
  to.open('{').member("name", tensor.name).member("shape", tensor.type.shape.extents());
  to.member("dtype", to_string(tensor.type.element)).member("on", to_word(tensor.on));
  to.member("writer", tensor.writer).member("readers", tensor.readers).close('}');
}

template <class T, class Write>
void write_list(compact_json& to, std::string_view name, const std::vector<T>& list, Write write) {
  to.key(name).open('[');
  for (const auto& item : list) write(to, item);
  to.close(']');
}

}  // namespace

void write_settings(compact_json& to, const settings& run) {
  to.open('{').member("strategy", to_word(run.strategy)).member("graphs", to_word(run.graphs));
  to.member("timing", to_word(run.timing)).member("wait", to_word(run.wait));
  to.member("priorities", run.priorities).member("in_flight", run.in_flight);
  to.member("frames", run.frames).member("warmup", run.warmup).member("seed", run.seed);
  to.member("threads", run.threads).member("deadline_ns", run.deadline);
  to.member("arrival", to_word(run.arrival)).member("rate", run.rate).member("queue", run.queue);
  to.member("when_full", to_word(run.when_full)).close('}');
}

void write_record(compact_json& to, const run_record& record) {
  to.open('{').member("pipeline", record.pipeline).member("description", record.description);
  if (record.source) {
    to.key("source").open('{').member("file", record.source->file);
    to.member("text", record.source->text).close('}');
  }
  to.member("parameters", record.parameters);
  write_settings(to.key("settings"), record.run);
  write_device(to.key("device"), record.device);
  to.member("cpu_cores", record.cpu_cores);
  to.member("environment", record.environment);
  write_memory(to.key("memory"), record.memory);
  to.member("clock_error_ns", record.clock_error).member("clock_drift_ns", record.clock_drift);
  to.member("processor_time_ns", record.processor_time);
  if (record.conditions) write_conditions(to.key("conditions"), *record.conditions);
  to.key("frames").open('{');
  write_column(to, "due", record.frames, [](const frame_record& f) { return f.due; });
  write_column(to, "begin", record.frames, [](const frame_record& f) { return f.begin; });
  write_column(to, "end", record.frames, [](const frame_record& f) { return f.end; });
  to.close('}');
  write_stamps(to, "launches", record.launches);
  to.member("threads", record.threads).key("load").open('{').member("dropped", record.load.dropped);
  to.member("found_full", record.load.found_full);
  to.member("longest_queue", record.load.longest_queue).close('}');
  if (record.calibration) write_calibration(to.key("calibration"), *record.calibration);
  write_list(to, "stages", record.stages, write_stage);
  write_list(to, "tensors", record.tensors, write_tensor);
  write_list(to, "graphs", record.graphs, write_graph);
  write_list(to, "outputs", record.outputs, write_output);
  to.member("warnings", record.warnings).member("interrupted", record.interrupted);
  to.member("failure", record.failure).close('}');
}

void write_record(compact_json& to, const trial_record& trial) {
  to.open('{').member("configuration", trial.configuration).member("block", trial.block);
  to.member("begun_ns", trial.begun);
  write_list(to, "members", trial.members,
             [](compact_json& list, const run_record& member) { write_record(list, member); });
  to.close('}');
}

std::string record_text(const trial_record& trial) {
  compact_json text;
  write_record(text, trial);
  return text.take();
}

}  // namespace graphline
