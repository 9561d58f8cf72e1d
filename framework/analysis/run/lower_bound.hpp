#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The constraints that a lower bound honors in addition to stage times and dependencies.
enum class schedules {
  this_one,  ///< also the order of the host thread's steps and of stages on a stream
  any,       ///< only the machine's resources
};

/// What determines a lower bound.
enum class limited_by {
  critical_path,  ///< a chain of dependent stages
  cpu_cores,      ///< CPU stages that share the cores
  device,         ///< stages on a device that executes one operation at a time
};

inline constexpr word<limited_by> limited_by_words[] = {
    {"critical_path", limited_by::critical_path},
    {"cpu_cores", limited_by::cpu_cores},
    {"device", limited_by::device}};
template <>
struct words_of<limited_by> {
  static constexpr const auto& table = limited_by_words;
};

/// Time that no frame with these stage times can beat: launches, waits and synchronization cost
/// nothing, and no other frame interferes.
struct lower_bound {
  nanoseconds time = 0;
  limited_by by = limited_by::critical_path;
  std::vector<std::size_t> stages;  ///< the critical path, in order, or the sharing stages
};

/// Lower bounds of frames with timed stages (`sync`, `event`, `layers`; `sync` times include the
/// launch).
///
/// A bound is the maximum of the longest path and, for each resource (the record's `cpu_cores`; the
/// device, if it executes one operation at a time) and each set of its stages that become ready at
/// time `a` or later and are followed by at least `b`, of a + work / cores + b (Jackson 1955 for
/// one machine; Carlier 1987 for several). Ready times and tails are themselves such bounds over
/// preceding and following stages.
///
/// The critical path is named if its length is within 2 % of the bound. Otherwise, among the sets
/// that attain the bound and whose stages take longer on the resource than their longest path, the
/// one with the most work is named: a stage before or after those that share a resource limits
/// nothing. The critical path is named again if a single other stage takes longer than the sharing
/// stages together.
///
/// A bound never exceeds the frame's time from begin to end by more than the clock error, and the
/// bound for any schedule never exceeds that for this schedule. Simulating the list schedule
/// without overheads guarantees neither: stages that are ready earlier may be chosen in another
/// order and take longer (Graham 1969).
class lower_bounds {
 public:
  /// @pre `record` outlives this object.
  explicit lower_bounds(const run_record& record);

  lower_bound of(std::size_t frame, schedules of) const;

 private:
  const run_record& record_;
  std::vector<schedule_step> steps_;  ///< of the single host thread, if there is one
};

}  // namespace graphline
