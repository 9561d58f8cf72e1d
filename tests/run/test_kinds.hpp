#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline::testing_kinds {

/// Called by the CPU kind `cpu_mix` before it computes, with the stage's name and frame number; for
/// throwing, sleeping and stopping at a chosen moment.
using hook = std::function<void(const std::string& stage, std::int64_t frame)>;

/// What one stage makes of its inputs: the same arithmetic for both kinds and for the reference.
std::int64_t mixed(std::int64_t salt, const std::vector<std::int64_t>& inputs, std::int64_t frame);

/// Kinds for tests: `cpu_mix` and `device_mix` read any number of int64 tensors of the shape [64]
/// and write one, element by element `mixed` (device stages with frame 0, since they do not know
/// it); `device_parts` is `device_mix` with two parts, "0.mix" and "1.settle"; `device_slow` is
/// `device_mix` after two operations of as many milliseconds as its salt; `device_fail` fails at
/// its n-th execution; and a `copy`.
stage_registry make_registry(hook h = {});

/// Lets a kind run on a backend, or replaces its factory for it. Its stages write as `device_mix`.
void make_on(stage_kind& kind, const std::string& backend, device_stage_factory make);

/// Replaces the factory of a CPU kind, whose stages write as `cpu_mix`.
void make_on_cpu(stage_kind& kind, cpu_stage_factory make);

/// A stage of those kinds.
stage_spec make_stage(const std::string& name, const std::string& kind,
                      const std::vector<std::string>& reads, std::int64_t salt = 1);

/// These stages, in that order; default: the settings' numbers of frames.
pipeline_spec pipeline_of(std::vector<stage_spec> stages, std::optional<std::int64_t> frames = {},
                          std::optional<std::int64_t> warmup = {});

/// "a" on the device, then "b" on the CPU, which a copy brings its input; 6 frames after 1.
pipeline_spec chain();

/// A way to run a pipeline, as what a test is repeated for.
struct way {
  strategy how;
  std::int64_t in_flight = 1;
  graph_mode graphs = graph_mode::stage;
  wait_mode wait = wait_mode::block;

  void set(settings& run) const;
};

/// "async_2_in_flight_graphs_stage_block".
std::string name_of(const way& w);

/// Every combination of strategy, graphs and these numbers of frames in flight that has a meaning.
std::vector<way> every_way(const std::vector<std::int64_t>& in_flight);

/// Values of `streams` in turn, for the rounds of a test.
stream_choice streams_in(int round);

/// For GoogleTest's messages.
inline void PrintTo(const way& w, std::ostream* to) {
  *to << name_of(w);
}

/// Throws `std::out_of_range` where a run has no such stage.
const stage_record& stage_named(const run_record& record, const std::string& name);

/// Plans for the host device; throws when there is a diagnostic.
plan plan_for_host(const pipeline_spec& spec, const stage_registry& registry);

/// What a `host_session` stands on.
struct own_host {
  explicit own_host(hook h) : registry(make_registry(std::move(h))) {}

  stage_registry registry;
  std::unique_ptr<graphline::device> host = open_host_device(1);
};

/// A session with these kinds on a `host` device of its own.
class host_session : private own_host, public session {
 public:
  explicit host_session(const pipeline_spec& spec, hook h = {})
      : own_host(std::move(h)), session(plan_for_host(spec, registry), *host) {}
};

/// A run that does not fail; throws what failed.
inline run_record whole_run(session& s, const run_options& options = {}) {
  run_record record = s.run(options);
  if (record.failure) throw std::runtime_error(*record.failure);
  return record;
}

/// Of its outputs.
inline std::vector<std::string> checksums(const run_record& record) {
  std::vector<std::string> result;
  for (const auto& output : record.outputs) result.push_back(output.checksum);
  return result;
}

}  // namespace graphline::testing_kinds
