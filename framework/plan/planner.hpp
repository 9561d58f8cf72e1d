#pragma once

#include "framework/base/diagnostic.hpp"
#include "framework/plan/plan.hpp"
#include "framework/plan/prepared_stages.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// What the planner must know of the machine it plans for.
struct plan_target {
  std::string backend = "host";           ///< empty: none; the plan is to be read, not run
  std::uint64_t device_memory_bytes = 0;  ///< 0: unknown, not checked
  std::uint64_t host_memory_bytes = 0;    ///< 0: unknown, not checked
  bool present = true;                    ///< whether this machine has the device
  plugin_use plugins = plugin_use::load;  ///< of the pipelines of an experiment
};

/// Turns a spec into a plan. Finds, all at once: unknown kinds, wrong parameters, missing or
/// surplus tensors, tensors never written or written twice, duplicate names, cycles (naming the
/// path), shape mismatches, sizes that cannot fit, and settings that make no sense together. Errors
/// go to `out`; the plan is usable only if there are none. `registry` must outlive the plan.
plan make_plan(const pipeline_spec& spec, const stage_registry& registry, const plan_target& target,
               diagnostics& out);

/// The same for one of several plans, which share stages in `prepared`.
plan make_plan(const pipeline_spec& spec, const stage_registry& registry, const plan_target& target,
               prepared_stages& prepared, diagnostics& out);

/// Checks that settings make sense together (the planner does this itself; programs that change a
/// plan's settings do it again). What is wrong is shown at the option or line that gave it, or else
/// at the section; nothing is checked where one could not be read.
void check_settings(const settings& run, const settings_places& places, diagnostics& out);

/// Changes settings so that stages are timed alone: one device stage at a time, one frame after
/// another, none late.
void set_stages_apart(settings& run) noexcept;

}  // namespace graphline
