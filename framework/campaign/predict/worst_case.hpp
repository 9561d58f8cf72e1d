#pragma once

#include <map>
#include <string>

#include "framework/base/clock.hpp"
#include "framework/campaign/predict/source_times.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns a bound on a frame's time in virtual time, from when it is due to its end, for frames
/// that do not overlap. It holds in any order of stages while no stage takes longer than in
/// `at_most` or, if this does not name the stage, in the sources.
///
/// - In a schedule in order or a frame's graph, at any moment one stage or overhead makes progress:
///   the bound is the sum of all.
/// - Otherwise it is Graham's bound (1969) for two kinds of stages (Jaffe 1980): with c the time of
///   a stage, all device stages, all CPU stages divided by the cores m, all issue times and
///   wake-ups, and on the longest path (1 - 1/m) c of each CPU stage and each stage's other delays.
///
/// Issue times are the longest of each stage in the sources; `overheads` are typical ones.
/// @throws input_error for an unknown stage, for one without a time, or if frames can overlap
/// because several are in flight in a closed loop or arrivals are random
worst_case bound_frames(const plan& p, const source_times& times, const source_overheads& overheads,
                        int cores, const std::map<std::string, nanoseconds>& at_most);

}  // namespace graphline
