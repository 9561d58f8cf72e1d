#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/place.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Limits of the arrival rate in frames per second: one frame per 12 days to one per microsecond.
constexpr double highest_rate = 1e6;
constexpr double lowest_rate = 1e-6;

/// Returns true if `rate` is within these limits; false for NaN.
constexpr bool can_be_kept(double rate) noexcept {
  return rate >= lowest_rate && rate <= highest_rate;
}

/// The setting `streams`: a rule, or a maximum number of compute streams.
struct stream_choice {
  stream_rule rule = stream_rule::automatic;
  std::int64_t at_most = 0;  ///< with `automatic`; 0 for the default

  friend bool operator==(const stream_choice&, const stream_choice&) = default;
};

/// Settings of a run: the `run:` section of a file, overridden by the command line.
struct settings {
  graphline::strategy strategy = graphline::strategy::async;
  graph_mode graphs = graph_mode::stage;
  timing_method timing = timing_method::event;
  wait_mode wait = wait_mode::block;
  bool priorities = true;      ///< if false, every stream has the same priority
  stream_choice streams;       ///< how device stages are distributed over streams
  std::int64_t in_flight = 1;  ///< maximum number of frames begun and not complete
  std::int64_t workers = 0;    ///< threads for CPU stages with `overlap`; 0 for one per free core
  std::string policy = "oldest_frame";  ///< name, or YAML mapping from it to parameters
  std::int64_t window = 0;              ///< maximum number of device stages issued and not complete
  std::int64_t realtime = 0;            ///< SCHED_FIFO priority of the host's threads; 0 for none
  std::int64_t frames = 45;             ///< measured frames
  std::int64_t warmup = 5;              ///< frames before the measured frames; not reported
  std::optional<nanoseconds> max_time;  ///< no measured frame begins after this time
  std::uint64_t seed = 1;               ///< seed of weights, inputs, random stages and arrivals
  std::int64_t threads = 0;             ///< threads of the `host` device; 0 for half the cores
  bool guard = false;                   ///< check that CPU stages write within their outputs
  std::optional<nanoseconds> deadline;  ///< a frame that takes longer misses it
  late_rule late = late_rule::finish;   ///< what happens to a frame after its deadline

  // Load. A frame's latency and deadline count from the time at which it is due.
  graphline::arrival arrival = graphline::arrival::closed;
  std::optional<double> rate;  ///< mean number of frames due per second; not with `closed`
  std::optional<std::string> arrival_file;  ///< due times of `trace`
  std::optional<nanoseconds> phase;         ///< added to all due times
  std::optional<nanoseconds> jitter;        ///< most random time from due to release
  std::int64_t burst = 1;                   ///< frames due at each arrival
  std::int64_t queue = 16;                  ///< maximum number of due frames that wait to begin
  queue_policy when_full = queue_policy::block;
  std::int64_t batch_frames = 1;          ///< maximum number of frames that run together
  std::optional<nanoseconds> batch_wait;  ///< longest wait of a due frame for others to join
};

/// Places of the settings in the file or, without a line, in the options.
struct settings_places {
  place section;                      ///< place of the `run:` section's value
  std::map<std::string, place> each;  ///< places of the valid settings that were given, by key
  std::set<std::string> unread;       ///< keys of given settings that are invalid and were reported
};

/// A constant input tensor of the pipeline.
struct input_spec {
  named name;
  tensor_type type;
  graphline::fill fill = graphline::fill::normal;
  std::string file = {};        ///< NumPy file with the contents; if empty, `fill` applies
  std::optional<side> on = {};  ///< location; if unset, the side of its first reader
  bool typed = true;            ///< false if `type` is invalid and was reported
};

/// Largest level of priority; the smallest is its negative. Higher levels are more urgent.
inline constexpr int most_level = 99;

/// Returns the level of a word: 1 for `high`, 0 for `normal`, -1 for `low`.
constexpr int level_of(priority word) noexcept {
  return 1 - static_cast<int>(word);
}

/// Returns the priority of a device stage's stream.
constexpr priority stream_priority(int level) noexcept {
  return level > 0 ? priority::high : level < 0 ? priority::low : priority::normal;
}

/// Numbers of rows for which a device stage is prepared.
struct row_buckets {
  std::vector<std::int64_t> rows = {};  ///< if empty, the default
  graphline::place place = {};
};

/// CPUs on which a CPU stage runs.
struct stage_cores {
  cpu_set cpus = {};  ///< if empty, any
  graphline::place place = {};
};

/// Maximum number of devices of a pipeline.
inline constexpr std::size_t most_devices = 16;

/// A device that a pipeline declares.
struct device_spec {
  named name;
  named device;              ///< as for --device: "cuda:1", "host"
  std::int64_t threads = 0;  ///< compute threads of a `host` device; 0: as the setting
};

/// A declared stage. The planner checks `parameters` against the stage's kind. An invalid name or
/// kind was reported and is empty.
struct stage_spec {
  named name;
  named kind;
  std::vector<named> reads = {};
  std::vector<named> read_ports = {};   ///< ports of `reads`; if empty, in the kind's order
  std::vector<named> writes = {};       ///< if empty, named after the stage
  std::vector<named> write_ports = {};  ///< ports of `writes`; if empty, in the kind's order
  std::vector<named> after = {};  ///< stages that must finish first, without a data dependency
  named rows = {};                ///< tensor with the number of rows to compute; if empty, all
  row_buckets buckets = {};       ///< with `rows`, of a device stage
  stage_cores cores = {};         ///< of a CPU stage
  int rank = 0;                   ///< that runs it, under MPI
  named on = {};                  ///< device of a device stage; if empty, the first
  named when = {};                ///< tensor whose zero skips the stage; if empty, it always runs
  std::vector<named> otherwise = {};        ///< tensors that replace skipped ones
  std::vector<named> otherwise_reads = {};  ///< the skipped ones; if empty, the only one of `reads`
  int priority = 0;                         ///< level, of the stream and for policies
  std::optional<nanoseconds> deadline = {};  ///< after the frame's due time; for policies
  node parameters = node::mapping({});       ///< all other keys
};

/// A declared pipeline after parameter substitution, with source places.
struct pipeline_spec {
  named name;
  std::string description;
  std::shared_ptr<const source_text> source = {};  ///< null for a spec built in C++
  std::string directory = ".";                     ///< base of relative paths in the file
  std::vector<std::pair<std::string, std::string>> parameters;  ///< resolved, in declared order
  std::vector<named> plugins = {};        ///< paths of shared libraries with stage kinds
  std::vector<device_spec> devices = {};  ///< if empty, the one that the program opens
  std::vector<input_spec> inputs;
  std::vector<stage_spec> stages;
  settings run;
  settings_places run_places = {};
};

}  // namespace graphline
