#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Constraints of a lower bound in addition to stage times and dependencies.
enum class schedules {
  this_one,  ///< resources, order of the host thread's steps, order of stages on each stream
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

/// Time that no frame with these stage times can beat. Assumes that launches, waits and
/// synchronization take no time and that other frames do not interfere.
struct lower_bound {
  nanoseconds time = 0;
  limited_by by = limited_by::critical_path;
  std::vector<std::size_t> stages;  ///< critical path in order, or stages that share the resource
};

/// Computes lower bounds of frames with timed stages (`event`, `layers` or `sync`). Stage times
/// under `sync` include launches.
///
/// A bound is the longest path or, if larger, the maximum of a + work / cores + b over sets of
/// stages (Jackson 1955 for one machine; Carlier 1987 for several). A set consists of the stages on
/// one resource that become ready at a or later and are followed by at least the time b. Resources
/// are the record's `cpu_cores` and a device that executes one operation at a time. The time at
/// which a stage becomes ready and the time that follows it are bounds of the same kind.
///
/// The critical path is named if its length is within 2 % of the bound. Otherwise the set with the
/// most work is named, among the sets that attain the bound and take longer than their longest path
/// and than any single other stage. If there is no such set, the critical path is named.
///
/// A bound exceeds the frame's time from begin to end by at most the clock error. The bound for any
/// schedule is at most that for this schedule. A simulated list schedule would guarantee neither,
/// because stages that are ready earlier can lead to a longer schedule (Graham 1969).
///
/// A stage that the frame did not run has length 0 and no place in the order of its stream.
class lower_bounds {
 public:
  /// @pre `record` outlives this object.
  explicit lower_bounds(const run_record& record);

  /// Returns the bound of the frames of a pass, from its begin.
  lower_bound of(std::size_t pass, schedules of) const;

 private:
  const run_record& record_;
  std::vector<schedule_step> steps_;  ///< steps of the single host thread; else empty
};

}  // namespace graphline
