#pragma once

#include <map>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/campaign/predict/source_times.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns a bound on a frame's time from its begin to its end if no stage takes longer than in
/// `at_most` or, for stages that this does not name, in the sources. The bound holds for frames
/// that do not overlap, in whatever order stages start.
///
/// - A schedule in order, or a frame's graph, does one thing after another: the bound is the sum of
///   all stages and overheads.
/// - Otherwise it is Graham's bound (1969) for two kinds of stages (Jaffe 1980): with c the time of
///   a stage, all device stages, all CPU stages divided by the cores m, and on the longest path
///   (1 - 1/m) c of each CPU stage and the overheads of each stage.
///
/// Overheads are the longest issue time of each stage in the sources, and `overheads`.
/// @throws input_error for an unknown stage, or if frames can overlap because several are in flight
/// in a closed loop or arrivals are random
worst_case bound_frames(const plan& p, const source_times& times, const source_overheads& overheads,
                        int cores, const std::map<std::string, nanoseconds>& at_most);

}  // namespace graphline
