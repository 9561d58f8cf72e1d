#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>

#include "framework/record/capacity_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {

// What records hold, each struct described once: its fields by key, in the order in which they are
// written. `record_json.cpp` follows it to write, `record_from_json.cpp` to read.
//
// An archive has for a field
//   value     texts, numbers, booleans, words of the language, lists and pairs of these
//   optional  of these, null where there is none
//   newer     a value that results of earlier versions do not have
//   time      nanoseconds; times: a list of them; optional_time
//   index     a number below a bound, and indices: a list of them
//   columns   a table of stamps, a list for each column; one that is empty is left out
//   busy      a time of each of some stamps, of which it is a part
//   count     of FLOPs or bytes, where it is known; ceiling_value: what reports divide by
//   where     a value that is there under a condition; known: a struct that is left out while it is
//             as it was made
//   object    a struct; optional_object: left out where there is none; list: of structs
// and knows `frames`, `threads` and `stages`, how many of these the run has.

template <class T, class Record>
concept part_of_record = std::same_as<std::remove_const_t<T>, Record>;

template <class Archive>
void fields(Archive& a, part_of_record<memory_usage> auto& of) {
  a.value("device_bytes", of.device_bytes);
  a.value("device_peak_bytes", of.device_peak_bytes);
  a.value("pinned_bytes", of.pinned_bytes);
  a.value("pinned_peak_bytes", of.pinned_peak_bytes);
  a.value("allocations", of.allocations);
}

template <class Archive>
void fields(Archive& a, part_of_record<cost_record> auto& of) {
  a.count("flops", of.flops);
  a.count("bytes_read", of.bytes_read);
  a.count("bytes_written", of.bytes_written);
  a.value("precision", of.arithmetic);
}

template <class Archive>
void fields(Archive& a, part_of_record<ceiling_figure> auto& of) {
  a.value("what", of.what);
  // Of what computes nothing it says nothing.
  a.where(unit_of(of.what) == ceiling_unit::rate, "precision", of.arithmetic);
  a.ceiling_value("value", of.value);
  a.ceiling_value("worst", of.worst);
  a.ceiling_value("best", of.best);
}

template <class Archive>
void fields(Archive& a, part_of_record<calibration> auto& of) {
  a.value("date", of.date);
  a.list("ceilings", of.ceilings);
  a.value("stale", of.stale);
}

template <class Archive>
void fields(Archive& a, part_of_record<source_record> auto& of) {
  a.value("file", of.file);
  a.value("text", of.text);
}

/// What results of earlier versions do not have is at its default, under which they ran.
template <class Archive>
void fields(Archive& a, part_of_record<settings> auto& of) {
  each_setting([&]<class Held>(Held settings::*member, const setting_entry& about) {
    if constexpr (std::same_as<Held, std::optional<nanoseconds>>) {
      a.optional_time((about.key + std::string("_ns")).c_str(), of.*member);
    } else if constexpr (std::same_as<Held, std::optional<double>>) {
      a.rate(about.key, of.*member);
    } else {
      a.newer(about.key, of.*member);
    }
  });
}

template <class Archive>
void fields(Archive& a, part_of_record<device_properties> auto& of) {
  a.value("backend", of.backend);
  a.value("name", of.name);
  a.value("memory_bytes", of.memory_bytes);
  a.value("compute_threads", of.compute_threads);
  a.value("priority_levels", of.priority_levels);
  a.newer("one_at_a_time", of.one_at_a_time);
  a.newer("tells_busy_time", of.tells_busy_time);
  a.value("details", of.details);
}

template <class Archive>
void fields(Archive& a, part_of_record<device_state> auto& of) {
  a.optional("clock_mhz", of.clock);
  a.optional("memory_clock_mhz", of.memory_clock);
  a.value("slowed_by", of.slowed_by);
  a.optional("other_processes", of.other_processes);
}

template <class Archive>
void fields(Archive& a, part_of_record<thread_time> auto& of) {
  a.value("thread", of.thread);
  a.time("on_cpu_ns", of.on_cpu);
  a.time("waited_ns", of.waited);
}

template <class Archive>
void fields(Archive& a, part_of_record<conditions_record> auto& of) {
  a.time("lasted_ns", of.lasted);
  a.value("cores", of.cores);
  a.optional("load_before", of.load_before);
  a.optional("load_after", of.load_after);
  a.optional_time("steal_ns", of.steal);
  a.optional_time("others_ns", of.others);
  a.optional("clock_mhz_before", of.clock_before);
  a.optional("clock_mhz_after", of.clock_after);
  a.optional_object("device_before", of.device_before);
  a.optional_object("device_after", of.device_after);
  a.list("threads", of.threads);
}

template <class Archive>
void fields(Archive& a, part_of_record<load_record> auto& of) {
  a.times("dropped", of.dropped);
  a.value("found_full", of.found_full);
  a.value("longest_queue", of.longest_queue);
}

template <class Archive>
void fields(Archive& a, part_of_record<wait_record> auto& of) {
  a.index("stage", of.stage, a.stages);  // those before it, while a list is being read
  a.value("how", of.how);
}

template <class Archive>
void fields(Archive& a, part_of_record<part_record> auto& of) {
  a.value("name", of.name);
  a.value("choice", of.choice);
  a.known("cost", of.cost);
  a.columns("device", of.device);
  a.busy("busy", of.busy, of.device);
}

template <class Archive>
void fields(Archive& a, part_of_record<operation_record> auto& of) {
  a.value("name", of.name);
  a.times("calls", of.calls);
  a.times("together", of.together);
}

template <class Archive>
void fields(Archive& a, part_of_record<stage_record> auto& of) {
  a.value("name", of.name);
  a.value("kind", of.kind);
  a.value("on", of.on);
  a.value("copy", of.copy);
  a.value("stream", of.stream);
  a.newer("priority", of.priority);
  a.newer_list("waits", of.waits);
  a.known("cost", of.cost);
  a.columns("enqueued", of.enqueued);
  a.columns("device", of.device);
  a.busy("busy", of.busy, of.device);
  a.columns("synced", of.synced);
  a.columns("cpu", of.cpu);
  a.indices_by_frame("threads", of.threads, a.threads);
  a.list("parts", of.parts);
  a.list("operations", of.operations);
  a.at_least("traced_runs", of.traced_runs, of.operations.empty() ? 0 : 1);
}

template <class Archive>
void fields(Archive& a, part_of_record<graph_node> auto& of) {
  a.value("name", of.name);
  a.value("type", of.type);
  a.indices("after", of.after, a.nodes);
}

template <class Archive>
void fields(Archive& a, part_of_record<graph_record> auto& of) {
  constexpr std::size_t most_executables = 1 << 9;  // one for each frame in flight
  a.value("name", of.name);
  a.value("operations", of.operations);
  a.index("executables", of.executables, most_executables);
  a.time("capture_ns", of.capture);
  a.time("instantiate_ns", of.instantiate);
  a.time("first_launch_ns", of.first_launch);
  a.times("later_launch_ns", of.later_launch);
  a.times("launch_ns", of.launch);
  a.times("eager_ns", of.eager);
  a.newer_list("nodes", of.nodes);
}

template <class Archive>
void fields(Archive& a, part_of_record<tensor_record> auto& of) {
  a.value("name", of.name);
  a.type(of.type);
  a.value("on", of.on);
  a.optional_index("writer", of.writer, a.stages);
  a.indices("readers", of.readers, a.stages);
}

template <class Archive>
void fields(Archive& a, part_of_record<output_record> auto& of) {
  a.value("tensor", of.tensor);
  a.type(of.type);
  a.value("checksum", of.checksum);
  a.value("finite", of.finite);
  a.value("values", of.values);
}

template <class Archive>
void fields(Archive& a, part_of_record<run_record> auto& of) {
  a.value("pipeline", of.pipeline);
  a.value("description", of.description);
  a.optional_object("source", of.source);
  a.value("parameters", of.parameters);
  a.object("settings", of.run);
  a.object("device", of.device);
  a.newer("cpu_cores", of.cpu_cores);
  a.value("environment", of.environment);
  a.object("memory", of.memory);
  a.time("clock_error_ns", of.clock_error);
  a.time("clock_drift_ns", of.clock_drift);
  a.time("processor_time_ns", of.processor_time);
  a.optional_object("conditions", of.conditions);
  a.frame_columns("frames", of.frames);
  a.columns("launches", of.launches);
  a.newer("threads", of.threads);
  a.object("load", of.load);
  a.optional_object("calibration", of.calibration);
  a.list("stages", of.stages);
  a.newer_list("tensors", of.tensors);
  a.list("graphs", of.graphs);
  a.list("outputs", of.outputs);
  a.value("warnings", of.warnings);
  a.value("interrupted", of.interrupted);
  a.optional("failure", of.failure);
}

template <class Archive>
void fields(Archive& a, part_of_record<capacity_settings> auto& of) {
  a.between("percentile", of.percentile, 0, 1);
  a.time("bound_ns", of.bound);
  a.value("arrival", of.arrival);
  a.between("within", of.within, 0, 1);
  a.value("frames", of.frames);
  a.value("seed", of.seed);
}

template <class Archive>
void fields(Archive& a, part_of_record<capacity_run> auto& of) {
  a.value("probe", of.probe);
  a.between("rate", of.rate, 0, 1e6);
  a.value("pooled", of.pooled);
  a.value("cut_off", of.cut_off);
  a.value("overdue", of.overdue);
  a.object("record", of.record);
}

template <class Archive>
void fields(Archive& a, part_of_record<capacity_record> auto& of) {
  a.object("how", of.how);
  a.object("closed_loop", of.closed_loop);
  a.list("runs", of.runs);
  a.value("interrupted", of.interrupted);
  a.optional_object("conditions", of.conditions);
}

template <class Archive>
void fields(Archive& a, part_of_record<experiment_settings> auto& of) {
  a.value("trials", of.trials);
  a.optional_time("time_limit_ns", of.time_limit);
  a.optional("narrow_to", of.narrow_to);
  a.between("margin", of.margin, 0, 1);
  a.between("tail", of.tail, 0, 1);
  a.value("seed", of.seed);
  a.value("fresh_processes", of.fresh_processes);
  a.value("repeat_affected", of.repeat_affected);
}

template <class Archive>
void fields(Archive& a, part_of_record<experiment_configuration> auto& of) {
  a.value("name", of.name);
  a.value("assignments", of.assignments);
  a.value("members", of.members);
}

template <class Archive>
void fields(Archive& a, part_of_record<configuration_member> auto& of) {
  a.value("configuration", of.configuration);
  a.value("member", of.member);
}

template <class Archive>
void fields(Archive& a, part_of_record<compared_pair> auto& of) {
  a.object("what", of.what);
  a.object("reference", of.reference);
}

template <class Archive>
void fields(Archive& a, part_of_record<experiment_record> auto& of) {
  a.value("name", of.name);
  a.value("description", of.description);
  a.object("settings", of.how);
  a.value("files", of.files);
  a.list("sources", of.sources);
  a.list("configurations", of.configurations);
  a.list("pairs", of.pairs);
  a.optional_object("calibration", of.calibration);
  a.value("stopped", of.stopped);
  a.value("interrupted", of.interrupted);
  a.optional("failure", of.failure);
  a.list("trials", of.trials);
}

template <class Archive>
void fields(Archive& a, part_of_record<trial_record> auto& of) {
  a.value("configuration", of.configuration);
  a.value("block", of.block);
  a.time("begun_ns", of.begun);
  a.list("members", of.members);
}

}  // namespace graphline
