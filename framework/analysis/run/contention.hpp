#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline {

/// A time in each frame or batch, in ns.
struct frame_time {
  double sum = 0;
  double longest = 0;
};

/// Waits behind work of lower rank; times are those for which it ran. A stage has a lower rank if
/// its declared priority is lower or, under a policy that keeps the order of deadlines, if its
/// absolute deadline is later.
struct lower_rank_waits {
  urgency kept = urgency::none;  ///< by the policy
  std::size_t blocked = 0;       ///< waits during which such work ran that had started before
  nanoseconds longest_blocked = 0;
  std::size_t inversions = 0;  ///< waits during which such work started and ran
  nanoseconds longest_inversion = 0;
  nanoseconds longest = 0;  ///< of all such work, in one wait with an inversion
  /// Limit for waits without inversions: the longest measured operation that can have a lower rank,
  /// for a device times `window`.
  nanoseconds bound = 0;
};

/// How long a pipeline, or a stage, waited for workers (CPU stages) or for the window of a device
/// (device stages), from when its stages were ready until they started.
struct contention {
  std::string name;
  side on = side::cpu;
  std::size_t frames = 0;
  frame_time wait;  ///< waits of stages that wait at the same time add up
  /// Parts of the waits, by the pipeline or stage that held a worker or a place in the window. With
  /// w workers or a window of w, each counts 1/w.
  std::vector<frame_time> held_by;
  std::optional<lower_rank_waits> behind = {};  ///< empty if no other work has a lower rank

  double mean(const frame_time& of) const { return of.sum / static_cast<double>(frames); }
};

/// Returns the waits of pipelines that run together, over several trials, each with one run of each
/// pipeline and one epoch: first those of CPU stages, then those of device stages. Omits waits that
/// the records do not show: without `overlap`, under `timing: none`, for a device without a window,
/// and by frames that were cut short.
std::vector<contention> contention_of(const std::vector<std::vector<const run_record*>>& trials,
                                      sharing share, const std::vector<std::string>& names);

/// Returns the waits of the stages of a run; empty if it has neither a policy nor priorities.
std::vector<contention> contention_of(const run_record& run);

/// Returns how often work waited while work of lower rank started and ran, and how long that ran;
/// empty if never. A warning if the policy keeps an order.
std::optional<finding> inversion_finding(std::span<const contention> waits);

}  // namespace graphline
