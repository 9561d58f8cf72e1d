#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The constraints that a lower bound honors in addition to stage times and dependencies.
enum class schedules {
  this_one,  ///< the order of the host thread's steps and of stages on a stream, and resources
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

/// Time that no frame with these stage times can beat. Launches, waits and synchronization are
/// assumed to cost nothing, and other frames not to interfere.
struct lower_bound {
  nanoseconds time = 0;
  limited_by by = limited_by::critical_path;
  std::vector<std::size_t> stages;  ///< the critical path, in order, or the stages that share
};

/// Lower bounds of frames with timed stages (`event`, `layers`, or `sync`, including launches).
///
/// A bound is the maximum of the longest path and of a + work / cores + b over certain sets of
/// stages (Jackson 1955 for one machine; Carlier 1987 for several). For each resource (the record's
/// `cpu_cores`; the device, if it executes one operation at a time) and all times a and b, the set
/// consists of the stages that become ready at a or later and are followed by at least b. Ready
/// times and tails are themselves such bounds over the preceding and following stages.
///
/// The critical path is named if its length is within 2 % of the bound. Otherwise the set with the
/// most work is named, among those that attain the bound and whose stages take longer on the
/// resource than their longest path. If a single other stage takes longer than these, the critical
/// path is named.
///
/// A bound never exceeds the frame's time from begin to end by more than the clock error, and the
/// bound for any schedule never exceeds that for this schedule. A simulation of the list schedule
/// without overheads would guarantee neither: if stages are ready earlier, it may choose another
/// order, which can take longer (Graham 1969).
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
