#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>

#include "framework/base/units.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// Description of a setting, apart from its type.
struct setting_entry {
  const char* key;          ///< key in a `run:` section; the option of `in_flight` is --in-flight
  const char* option_help;  ///< help of the option
  const char* help;         ///< help of the key
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  const char* option_value = "N";  ///< placeholder in the option's help
  bool on_schedule = false;        ///< no effect with closed arrival; results then omit it
  const char* option_letter = "";  ///< short option, such as "-n,"
  bool of_overlap = false;         ///< no effect without workers; results then omit it
  bool omit_default = false;       ///< results omit the default
  bool (*has_effect)(const settings&) = nullptr;  ///< results omit it if false; null: always true
};

/// Calls `take(member, entry)` for each setting of a run. All readers and writers use this list.
/// Optional durations are in nanoseconds; optional numbers are frame rates; optional texts are
/// paths.
template <class Take>
void each_setting(Take take) {
  take(&settings::strategy,
       {"strategy", "How frames are scheduled",
        "How frames are scheduled: one host thread that waits for each device stage, one that "
        "waits only where a CPU stage reads a device result, or every stage as soon as its inputs "
        "are ready."});
  take(&settings::graphs,
       {"graphs", "Launch operation by operation, a graph per stage, or the frame as one",
        "How device work is launched: operation by operation, one graph per device stage, or the "
        "whole frame as one graph."});
  take(&settings::timing,
       {"timing", "How stages are measured; layers: device time per layer, perturbing",
        "How stages are measured; 'layers' adds device time per layer."});
  take(&settings::wait,
       {"wait", "How the host waits for the device",
        "How the host waits for the device and for due times: polling, polling and yielding the "
        "core, or asleep until woken."});
  take(&settings::priorities, {"priorities", "Whether streams have priorities",
                               "Whether streams have the priorities of their stages."});
  take(&settings::streams,
       {"streams", "How device stages share streams, or the maximum number of streams",
        "How device stages share streams: each chain has one, with a maximum of eight streams "
        "(auto), of this number, or without a limit (per_branch); all stages share one; or none "
        "do (per_stage). Copies have a stream for each direction.",
        1, 64, "auto|one|per_stage|per_branch|N", false, "", false, true});
  take(&settings::in_flight,
       {"in_flight", "Frames begun and not yet complete, at most",
        "Maximum number of frames begun and not yet complete. Each stage still has them in order, "
        "one at a time.",
        1, 64, "K"});
  take(
      &settings::workers,
      {"workers", "Threads that run CPU stages with strategy overlap (0: one per core)",
       "Threads that run CPU stages with 'strategy: overlap'; 0 means one per core that the device "
       "leaves free.",
       0, 1024, "N", false, "", true, true});
  take(&settings::policy,
       {"policy", "Order of ready stages with strategy overlap; 'graphline policies' lists them",
        "Scheduling policy: which ready stage goes first with 'strategy: overlap'; 'graphline "
        "policies' lists them. A mapping gives parameters: {random: {seed: 2}}.",
        std::nullopt, std::nullopt, "NAME", false, "", true, true});
  take(&settings::window,
       {"window", "Stages issued and not complete on each device, at most (0: no limit)",
        "Maximum number of stages of each device issued and not complete with 'strategy: overlap'; "
        "the others wait in the policy's order. 0 means no limit; copies do not count.",
        0, 1024, "N", false, "", true, true});
  take(&settings::realtime,
       {"realtime", "SCHED_FIFO priority of the threads that run and issue stages (0: none)",
        "Priority in the real-time class SCHED_FIFO of the threads that run CPU stages, issue "
        "device stages and wait for them, from the warm-up to the last frame; 0 leaves their "
        "class as it is.",
        0, 99, "N", false, "", false, true});
  take(&settings::frames,
       {"frames", "Measured frames", "Measured frames.", 1, 100'000'000, "N", false, "-n,"});
  take(&settings::warmup,
       {"warmup", "Frames before them that are not reported",
        "Frames before the measured ones that are not reported. Unless it is 0, a GPU works for "
        "300 ms before them.",
        0, 1'000'000});
  take(&settings::max_time,
       {"max_time", "Ends the run early: no measured frame begins after it, such as 10s",
        "No measured frame begins after this time; the run then has fewer of them.", 1,
        std::nullopt, "TIME"});
  take(&settings::seed, {"seed", "Seed of weights, inputs, random stages and random arrivals",
                         "Seed of weights, inputs, random stages and random arrivals.", 0});
  take(&settings::threads,
       {"threads", "Compute threads of the host device (0: half the cores)",
        "Compute threads of the host device; 0 means half the cores.", 0, 1024});
  take(&settings::guard,
       {"guard", "Whether each CPU stage is checked for writes beyond its outputs",
        "Whether each CPU stage is checked for writes before or after its outputs, "
        "up to 4 KiB away; for debugging."});
  take(&settings::deadline,
       {"deadline", "A frame that takes longer has missed it, such as 20ms",
        "A frame that takes longer than this has missed its deadline.", 1, std::nullopt, "TIME"});
  take(&settings::late,
       {"late", "What happens to a frame whose deadline has passed",
        "What happens to a frame whose deadline has passed: it runs as any other (finish); it does "
        "not begin (drop); or, in addition, no further stage of it starts (skip_rest). Needs a "
        "deadline.",
        std::nullopt, std::nullopt, "", false, "", false, true, [](const settings& run) {
          return run.late == late_rule::skip_rest || run.arrival != arrival::closed;
        }});
  take(&settings::arrival,
       {"arrival", "When frames are due: each when there is room for it, or on a schedule",
        "When frames are due: each as soon as there is room for it, at a constant rate, at random "
        "moments of a Poisson process, or at the times in 'arrival_file'."});
  take(&settings::rate,
       {"rate", "Frames due in a second, where they arrive on a schedule",
        "Frames due in a second, on average; required with constant and poisson arrivals, not "
        "allowed with closed arrival. Scales the times of a trace.",
        lowest_rate, highest_rate, "R", true});
  take(&settings::arrival_file,
       {"arrival_file", "Times at which frames are due, for --arrival trace",
        "Due times for 'arrival: trace': one per line, in seconds from the start of the load. A "
        "first line due_ns, due_us, due_ms or due_s sets another unit.",
        std::nullopt, std::nullopt, "FILE", true, "", false, false,
        [](const settings& run) { return run.arrival == arrival::trace; }});
  take(&settings::phase, {"phase", "Delay of all due times, such as 5ms",
                          "Time by which all due times are shifted; not with closed arrival.", 0,
                          3.6e12, "TIME", true});
  take(&settings::jitter,
       {"jitter", "Longest random delay of a frame's release after it is due, such as 1ms",
        "Release jitter: each frame can begin a random time after it is due, uniform from 0 to "
        "this. Latency and deadline still count from the due time. Not with closed arrival.",
        0, 3.6e12, "TIME", true});
  take(&settings::burst,
       {"burst", "Frames due at each arrival",
        "Frames due at each arrival; 'rate' counts frames. Not with closed arrival.", 1, 65536, "N",
        true, "", false, false, [](const settings& run) { return run.burst > 1; }});
  take(&settings::queue,
       {"queue", "Frames on a schedule that are due and wait to begin, at most",
        "Maximum number of due frames that wait to begin; not with closed arrival.", 1, 1'000'000,
        "N", true});
  take(&settings::when_full,
       {"when_full", "What becomes of a frame that is due while the queue is full",
        "What happens to a frame that is due while the queue is full: it waits, the oldest frame "
        "in the queue is dropped, or the new one is.",
        std::nullopt, std::nullopt, "", true});
  take(&settings::batch_frames,
       {"batch_frames", "Due frames that run together, at most",
        "Maximum number of due frames that run together, through the pipeline once; a stage "
        "cpu.batch writes how many they are, for 'rows'. Not with closed arrival.",
        1, 65536, "N", true});
  take(&settings::batch_wait,
       {"batch_wait", "Longest wait of a due frame for others to join it, such as 2ms",
        "Longest time for which a due frame waits for others to join it; without it, only frames "
        "that are due already run together.",
        1, 3.6e12, "TIME", true});
}

/// Returns true if CPU stages run on worker threads.
inline bool has_workers(const settings& run) {
  return run.strategy == strategy::overlap && run.graphs != graph_mode::frame;
}

/// Returns true if results name a setting: it has an effect in this run and need not be omitted.
template <class Member>
bool applies(Member settings::*member, const setting_entry& of, const settings& run) {
  return (!of.on_schedule || run.arrival != arrival::closed) &&
         (!of.of_overlap || has_workers(run)) &&
         (!of.omit_default || run.*member != settings{}.*member) &&
         (of.has_effect == nullptr || of.has_effect(run));
}

/// Returns a setting's value as written in a file: "overlap", "on", "16"; empty if unset.
template <class T>
std::string written(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(to_word(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "on" : "off";
  } else if constexpr (std::is_same_v<T, std::optional<nanoseconds>>) {
    return value ? format_duration(static_cast<double>(*value)) : "";
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return value ? fmt::to_string(*value) : "";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, stream_choice>) {
    return value.at_most > 0 ? fmt::to_string(value.at_most) : std::string(to_word(value.rule));
  } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
    return value.value_or("");
  } else {
    return fmt::to_string(value);
  }
}

}  // namespace graphline
