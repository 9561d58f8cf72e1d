#pragma once

#include <functional>
#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/plan.hpp"
#include "framework/plan/prepared_stages.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// The machine to plan for.
struct plan_target {
  std::string backend = "host";           ///< empty: no device; the plan is only inspected
  std::uint64_t device_memory_bytes = 0;  ///< 0: unknown, not checked
  std::uint64_t host_memory_bytes = 0;    ///< 0: unknown, not checked
  cpu_set cpus = {};                      ///< that the process may use; empty: unknown, not checked
  bool present = true;                    ///< whether the device is in this machine
  bool selects = true;  ///< as in `device_properties`; true if the device is not present
  plugin_use plugins = plugin_use::load;  ///< for the pipelines of an experiment
  bool shares_policy = false;  ///< other pipelines may have the deadlines that the policy needs
  bool varies_policy = false;  ///< other plans may use priorities that this one does not
  bool chosen = false;         ///< the user named the device
  /// Returns the same machine with another device, for pipelines that declare devices.
  /// @throws input_error for an unknown name; no_device_error if the device is needed and missing
  std::function<plan_target(const std::string& device)> with_device = {};
  /// As `device_list::why_apart`; if empty, no two GPUs are known to exchange tensors.
  std::function<std::string(const std::string& device, const std::string& other)> why_apart = {};
};

/// Turns a spec into a plan, which is usable only if `out` has no errors. Reports all errors at
/// once: unknown kinds, wrong parameters, missing or surplus tensors, tensors never written or
/// written twice, duplicate names, cycles (with their stages), shape mismatches, excessive sizes
/// and contradictory settings. `registry` must outlive the plan.
/// @throws no_device_error if a declared device is missing and the spec has no errors
plan make_plan(const pipeline_spec& spec, const stage_registry& registry, const plan_target& target,
               diagnostics& out);

/// Same as above, but shares the stages in `prepared` with other plans.
plan make_plan(const pipeline_spec& spec, const stage_registry& registry, const plan_target& target,
               prepared_stages& prepared, diagnostics& out);

/// Checks settings against each other, as `make_plan` does. Call it again after a change of a
/// plan's settings. Errors are placed at the option or line of a setting, or else at the section.
/// Checks nothing if a setting could not be read.
void check_settings(const settings& run, const settings_places& places, diagnostics& out);

/// Warns if plans that run together may let real-time threads poll on all of `cpus`. An empty set
/// is not checked.
void warn_of_polling(const std::vector<const plan*>& plans, const cpu_set& cpus, const place& where,
                     diagnostics& out);

/// Changes settings so that each stage is timed alone: one device stage and one frame at a time,
/// each frame starting when the previous one ends.
void set_stages_apart(settings& run) noexcept;

}  // namespace graphline
