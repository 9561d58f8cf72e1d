#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What a lower bound takes as given beside the stages' times and what they wait for.
enum class schedules {
  this_one,  ///< also the steps of the host thread, and stages of a stream in turn
  any,       ///< nothing but the machine
};

/// What the time of a lower bound is made of.
enum class limited_by {
  critical_path,  ///< stages that wait for each other
  cpu_cores,      ///< CPU stages that share the cores which they have
  device,         ///< stages of a device that carries out one operation at a time
};

inline constexpr word<limited_by> limited_by_words[] = {
    {"critical_path", limited_by::critical_path},
    {"cpu_cores", limited_by::cpu_cores},
    {"device", limited_by::device}};
template <>
struct words_of<limited_by> {
  static constexpr const auto& table = limited_by_words;
};

/// A time that no frame with these stage times can beat: launches, waits and hand-overs take
/// nothing, and no other frame is in its way.
struct lower_bound {
  nanoseconds time = 0;
  limited_by by = limited_by::critical_path;
  std::vector<std::size_t> stages;  ///< of the critical path, in order; else those that share
};

/// Lower bounds of frames whose stages were timed (`sync`, `event`, `layers`; under `sync` with
/// their launch).
///
/// The largest of: the longest path; and for each resource (the `cpu_cores` of the record; the
/// device, where it does one thing at a time) and each set of its stages that become ready at `a`
/// at the earliest and are followed by `b` at least, a + work / cores + b (Jackson 1955 for one
/// machine; Carlier 1987 for several). Ready times and what follows hold the same bounds of the
/// stages before and after.
///
/// What is said to make it: the critical path where that is as long to within 2 %. Else of the sets
/// that reach it and whose stages take longer on the resource than their longest path, the one with
/// the most time there, without `a` and `b`: a stage before or after those that share limits
/// nothing. Again the critical path where one stage apart from those that share takes longer than
/// they do together.
///
/// Never more than the frame's time from begin to end, but for the clocks' error, and for any
/// schedule never more than for this one. A list schedule that is run again without overheads keeps
/// neither: where stages are ready earlier it may choose others, and take longer (Graham 1969).
class lower_bounds {
 public:
  /// `record` must outlive this.
  explicit lower_bounds(const run_record& record);

  lower_bound of(std::size_t frame, schedules of) const;

 private:
  const run_record& record_;
  std::vector<schedule_step> steps_;  ///< of the one host thread, if there is one
};

}  // namespace graphline
