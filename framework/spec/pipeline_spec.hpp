#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/place.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Frames due in a second, at most and at least: one in a microsecond and one in 12 days. Times of
/// frames that are 12 days apart can still be added and written to a file.
constexpr double highest_rate = 1e6;
constexpr double lowest_rate = 1e-6;

/// Not so of what is no number.
constexpr bool can_be_kept(double rate) noexcept {
  return rate >= lowest_rate && rate <= highest_rate;
}

/// How a pipeline is run: the `run:` section of a file, overridden by the command line.
struct settings {
  graphline::strategy strategy = graphline::strategy::async;
  graph_mode graphs = graph_mode::stage;
  timing_method timing = timing_method::event;
  wait_mode wait = wait_mode::block;
  bool priorities = true;               ///< off: every stream has the same priority
  std::int64_t in_flight = 1;           ///< frames begun and not yet complete, at most
  std::int64_t workers = 0;             ///< threads for CPU stages under `overlap`; 0: one per core
  std::int64_t frames = 45;             ///< measured frames
  std::int64_t warmup = 5;              ///< frames before them that are not reported
  std::optional<nanoseconds> max_time;  ///< no measured frame begins after it
  std::uint64_t seed = 1;               ///< of weights, inputs, random stages and arrivals
  std::int64_t threads = 0;             ///< compute threads of the `host` device; 0: half the cores
  bool guard = false;                   ///< check that CPU stages write within their outputs
  std::optional<nanoseconds> deadline;  ///< a frame that takes longer has missed it

  // Load. The deadline and all latencies count from the moment a frame is due.
  graphline::arrival arrival = graphline::arrival::closed;
  std::optional<double> rate;  ///< frames due in a second, on average; not with `closed`
  std::int64_t queue = 16;     ///< frames that are due and wait to begin, at most
  queue_policy when_full = queue_policy::block;
};

/// Where settings were written: in a file, or as an option, whose place has no line and is called
/// as it was given, "--strategy overlap". All nowhere in a spec made in C++.
struct settings_places {
  place section;                      ///< of the `run:` section's value
  std::map<std::string, place> each;  ///< of the settings that were given and could be read, by key
  std::set<std::string> unread;       ///< those that were given and could not, which was reported
};

/// A tensor that is there before the first frame and stays the same.
struct input_spec {
  named name;
  tensor_type type;
  graphline::fill fill = graphline::fill::normal;
  std::string file = {};        ///< NumPy file of that type with its numbers; empty: it is filled
  std::optional<side> on = {};  ///< where it lives; unset: where it is read first
  bool typed = true;  ///< false: what was written for `type` could not be read, and was reported
};

/// One node of the pipeline as declared. What its kind makes of `parameters` the planner checks. In
/// a spec that was read with errors, an empty name or kind is one that could not be read.
struct stage_spec {
  named name;
  named kind;
  std::vector<named> reads = {};
  std::vector<named> read_ports = {};   ///< of each of `reads`; empty: in the order of the kind's
  std::vector<named> writes = {};       ///< empty: named after the stage
  std::vector<named> write_ports = {};  ///< of each of `writes`; empty: in the order of the kind's
  std::vector<named> after = {};        ///< stages that must finish first without handing over data
  graphline::priority priority = graphline::priority::normal;
  node parameters = node::mapping({});  ///< every key that is not one of the above
};

/// A declared pipeline: what the user wrote, with parameters resolved and places kept.
struct pipeline_spec {
  named name;
  std::string description;
  std::shared_ptr<const source_text> source = {};  ///< what was read; null for one made in C++
  std::string directory = ".";                     ///< relative paths in the file start here
  std::vector<std::pair<std::string, std::string>> parameters;  ///< resolved, in declared order
  std::vector<named> plugins = {};  ///< paths of shared libraries that bring stage kinds
  std::vector<input_spec> inputs;
  std::vector<stage_spec> stages;
  settings run;
  settings_places run_places = {};
};

}  // namespace graphline
