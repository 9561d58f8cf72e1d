#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
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
// An archive has for a field, of whatever type,
//   value     an optional one is null where there is nothing; left out where it would be a struct
//   newer     a value that results of earlier versions do not have, or not of everything
//   column    a list with an entry for each frame, or none at all; stamps are two lists
//   busy      a time of each of some stamps, of which it is a part
//   type      of a tensor, by the keys "shape" and "dtype"
// and is a `record_counts`.

/// How many of these the run has; of stages and nodes, while a list of them is being read, those
/// before.
struct record_counts {
  std::size_t frames = 0;
  std::size_t threads = 0;
  std::size_t stages = 0;
  std::size_t nodes = 0;
};

/// What numbers are taken by a reader; `words` names them in a message.
struct number_range {
  double least;
  double most;
  const char* words;  ///< "{}" in it stands for the first whole number beyond `most`

  bool holds(double number) const noexcept { return number >= least && number <= most; }
};

/// No run takes so long, and reports may add up times without leaving 64 bits.
inline constexpr number_range any_time{-0x1p53, 0x1p53, "nanoseconds of 104 days at most"};
inline constexpr number_range time_above_0{1, 0x1p53, "a time above 0"};
/// FLOPs or bytes, such that some hundred of them can be added up in 64 bits.
inline constexpr number_range any_amount{0, 0x1p56, "a number from 0 to 2^56"};
/// What reports divide by.
inline constexpr number_range any_ceiling{1e-3, 1e18, "a number from 0.001 to 10^18"};
inline constexpr number_range any_rate{lowest_rate, highest_rate,
                                       "a rate from 0.000001 to 1,000,000 frames a second"};
inline constexpr number_range part_of_one{std::numeric_limits<double>::denorm_min(),
                                          1 - std::numeric_limits<double>::epsilon() / 2,
                                          "a number between 0 and 1"};
inline constexpr number_range from_0{0, 0x1p63, "a number from 0"};
inline constexpr number_range from_1{1, 0x1p63, "a number from 1"};
/// Reports look up what an index names.
constexpr number_range index_below(std::size_t end) {
  return {0, static_cast<double>(end) - 1, "an index below {}"};
}

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
  a.value("flops", of.flops, any_amount);
  a.value("bytes_read", of.bytes_read, any_amount);
  a.value("bytes_written", of.bytes_written, any_amount);
  a.value("precision", of.arithmetic);
}

template <class Archive>
void fields(Archive& a, part_of_record<ceiling_figure> auto& of) {
  a.value("what", of.what);
  a.newer("precision", of.arithmetic);
  a.value("value", of.value, any_ceiling);
  a.value("worst", of.worst, any_ceiling);
  a.value("best", of.best, any_ceiling);
}

template <class Archive>
void fields(Archive& a, part_of_record<ceiling_record> auto& of) {
  a.value("what", of.what);
  a.newer("precision", of.arithmetic);
  a.value("how", of.how);
  a.value("amount", of.amount, any_ceiling);
  a.value("times_ns", of.times, time_above_0);
}

template <class Archive>
void fields(Archive& a, part_of_record<calibration> auto& of) {
  a.value("date", of.date);
  a.value("ceilings", of.ceilings);
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
      a.value(about.key + std::string("_ns"), of.*member, any_time);
    } else if constexpr (std::same_as<Held, std::optional<double>>) {
      a.value(about.key, of.*member, any_rate);
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
void fields(Archive& a, part_of_record<calibration_record> auto& of) {
  a.value("device", of.device);
  a.value("environment", of.environment);
  a.value("ceilings", of.ceilings);
  a.value("warnings", of.warnings);
  a.value("interrupted", of.interrupted);
}

template <class Archive>
void fields(Archive& a, part_of_record<device_state> auto& of) {
  a.value("clock_mhz", of.clock);
  a.value("memory_clock_mhz", of.memory_clock);
  a.value("slowed_by", of.slowed_by);
  a.value("other_processes", of.other_processes);
}

template <class Archive>
void fields(Archive& a, part_of_record<thread_time> auto& of) {
  a.value("thread", of.thread);
  a.value("on_cpu_ns", of.on_cpu, any_time);
  a.value("waited_ns", of.waited, any_time);
}

template <class Archive>
void fields(Archive& a, part_of_record<conditions_record> auto& of) {
  a.value("lasted_ns", of.lasted, any_time);
  a.value("cores", of.cores);
  a.value("load_before", of.load_before);
  a.value("load_after", of.load_after);
  a.value("steal_ns", of.steal, any_time);
  a.value("others_ns", of.others, any_time);
  a.value("clock_mhz_before", of.clock_before);
  a.value("clock_mhz_after", of.clock_after);
  a.value("device_before", of.device_before);
  a.value("device_after", of.device_after);
  a.value("threads", of.threads);
}

template <class Archive>
void fields(Archive& a, part_of_record<load_record> auto& of) {
  a.value("dropped", of.dropped, any_time);
  a.value("found_full", of.found_full);
  a.value("longest_queue", of.longest_queue);
}

template <class Archive>
void fields(Archive& a, part_of_record<wait_record> auto& of) {
  a.value("stage", of.stage, index_below(a.stages));  // those before it, while a list is being read
  a.value("how", of.how);
}

template <class Archive>
void fields(Archive& a, part_of_record<part_record> auto& of) {
  a.value("name", of.name);
  a.value("choice", of.choice);
  a.newer("cost", of.cost);
  a.column("device", of.device);
  a.busy("busy", of.busy, of.device);
}

template <class Archive>
void fields(Archive& a, part_of_record<operation_record> auto& of) {
  a.value("name", of.name);
  a.value("calls", of.calls, any_time);
  a.value("together", of.together, any_time);
}

template <class Archive>
void fields(Archive& a, part_of_record<stage_record> auto& of) {
  a.value("name", of.name);
  a.value("kind", of.kind);
  a.value("on", of.on);
  a.value("copy", of.copy);
  a.value("stream", of.stream);
  a.newer("priority", of.priority);
  a.newer("waits", of.waits);
  a.newer("cost", of.cost);
  a.column("enqueued", of.enqueued);
  a.column("device", of.device);
  a.busy("busy", of.busy, of.device);
  a.column("synced", of.synced);
  a.column("cpu", of.cpu);
  a.column("threads", of.threads, index_below(a.threads));
  a.value("parts", of.parts);
  a.value("operations", of.operations);
  a.value("traced_runs", of.traced_runs, of.operations.empty() ? from_0 : from_1);
}

template <class Archive>
void fields(Archive& a, part_of_record<graph_node> auto& of) {
  a.value("name", of.name);
  a.value("type", of.type);
  a.value("after", of.after, index_below(a.nodes));
}

template <class Archive>
void fields(Archive& a, part_of_record<graph_record> auto& of) {
  constexpr std::size_t most_executables = 1 << 9;  // one for each frame in flight
  a.value("name", of.name);
  a.value("operations", of.operations);
  a.value("executables", of.executables, index_below(most_executables));
  a.value("capture_ns", of.capture, any_time);
  a.value("instantiate_ns", of.instantiate, any_time);
  a.value("first_launch_ns", of.first_launch, any_time);
  a.value("later_launch_ns", of.later_launch, any_time);
  a.value("launch_ns", of.launch, any_time);
  a.value("eager_ns", of.eager, any_time);
  a.newer("nodes", of.nodes);
}

template <class Archive>
void fields(Archive& a, part_of_record<tensor_record> auto& of) {
  a.value("name", of.name);
  a.type(of.type);
  a.value("on", of.on);
  a.value("writer", of.writer, index_below(a.stages));
  a.value("readers", of.readers, index_below(a.stages));
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
  a.value("source", of.source);
  a.value("parameters", of.parameters);
  a.value("settings", of.run);
  a.value("device", of.device);
  a.newer("cpu_cores", of.cpu_cores);
  a.value("environment", of.environment);
  a.value("memory", of.memory);
  a.value("clock_error_ns", of.clock_error, any_time);
  a.value("clock_drift_ns", of.clock_drift, any_time);
  a.value("processor_time_ns", of.processor_time, any_time);
  a.value("conditions", of.conditions);
  a.value("frames", of.frames);
  a.frames = of.frames.size();
  a.column("launches", of.launches);
  a.newer("threads", of.threads);
  a.threads = of.threads.size();
  a.value("load", of.load);
  a.value("calibration", of.calibration);
  a.value("stages", of.stages);
  a.newer("tensors", of.tensors);
  a.value("graphs", of.graphs);
  a.value("outputs", of.outputs);
  a.value("warnings", of.warnings);
  a.value("interrupted", of.interrupted);
  a.value("failure", of.failure);
}

template <class Archive>
void fields(Archive& a, part_of_record<roofline_record> auto& of) {
  a.value("stages", of.stages);
  a.value("layers", of.layers);
}

template <class Archive>
void fields(Archive& a, part_of_record<capacity_settings> auto& of) {
  a.value("percentile", of.percentile, part_of_one);
  a.value("bound_ns", of.bound, any_time);
  a.value("arrival", of.arrival);
  a.value("within", of.within, part_of_one);
  a.value("frames", of.frames);
  a.value("seed", of.seed);
}

template <class Archive>
void fields(Archive& a, part_of_record<capacity_run> auto& of) {
  a.value("probe", of.probe);
  a.value("rate", of.rate, any_rate);
  a.value("pooled", of.pooled);
  a.value("cut_off", of.cut_off);
  a.value("overdue", of.overdue);
  a.value("record", of.record);
}

template <class Archive>
void fields(Archive& a, part_of_record<capacity_record> auto& of) {
  a.value("how", of.how);
  a.value("closed_loop", of.closed_loop);
  a.value("runs", of.runs);
  a.value("interrupted", of.interrupted);
  a.value("conditions", of.conditions);
}

template <class Archive>
void fields(Archive& a, part_of_record<experiment_settings> auto& of) {
  a.value("trials", of.trials);
  a.value("time_limit_ns", of.time_limit, any_time);
  a.value("narrow_to", of.narrow_to);
  a.value("margin", of.margin, part_of_one);
  a.value("tail", of.tail, part_of_one);
  a.value("seed", of.seed);
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
  a.value("what", of.what);
  a.value("reference", of.reference);
}

template <class Archive>
void fields(Archive& a, part_of_record<experiment_record> auto& of) {
  a.value("name", of.name);
  a.value("description", of.description);
  a.value("settings", of.how);
  a.value("files", of.files);
  a.value("sources", of.sources);
  a.value("configurations", of.configurations);
  a.value("pairs", of.pairs);
  a.value("calibration", of.calibration);
  a.value("stopped", of.stopped);
  a.value("interrupted", of.interrupted);
  a.value("failure", of.failure);
  a.value("trials", of.trials);
}

template <class Archive>
void fields(Archive& a, part_of_record<trial_record> auto& of) {
  a.value("configuration", of.configuration);
  a.value("block", of.block);
  a.value("begun_ns", of.begun, any_time);
  a.value("members", of.members);
}

/// Whether there are `fields` of it.
template <class T>
concept part_of_a_record = requires(int& any_archive, T& of) {
  fields(any_archive, of);
};

}  // namespace graphline
