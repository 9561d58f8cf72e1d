#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// What a policy knows of a stage. Fixed while frames run.
struct policy_stage {
  /// About 146 years: sums of it with times of a run do not overflow.
  static constexpr nanoseconds never = nanoseconds{1} << 62;

  std::string_view pipeline;
  std::string_view name;
  side on = side::cpu;
  int priority = 0;                             ///< declared; higher is more urgent
  std::uint32_t position = 0;                   ///< in planned order
  std::span<const std::size_t> followers = {};  ///< positions of stages that wait for it, ascending
  nanoseconds deadline = never;  ///< after the frame's due time; the stage's, or the frame's
  nanoseconds period = never;    ///< mean time between due frames of the pipeline

  // By the expected times of stages, which are 0 unless the policy's kind states `needs_times`.

  nanoseconds expected = 0;  ///< time on a core or the device
  nanoseconds path = 0;      ///< longest path from the stage's start to the end of its frame
  /// Latest start, after the frame's due time, with which this stage and all after it can meet
  /// their deadlines; `never` without deadlines.
  nanoseconds latest_start = never;
};

/// A stage of a frame that may start.
struct ready_job {
  const policy_stage& stage;
  std::int64_t frame = 0;   ///< number of the frame from the start of the run
  nanoseconds due = 0;      ///< due time of the frame, on the host's clock
  std::uint64_t order = 0;  ///< counts the jobs that became ready
};

/// Lower ranks go first. Equal ranks: the older frame, then planned order.
struct policy_rank {
  std::int64_t first = 0;
  std::int64_t second = 0;
  friend auto operator<=>(const policy_rank&, const policy_rank&) = default;
};

/// A scheduling policy: pure functions of a job and of what is fixed while frames run.
///
/// A free worker runs the ready CPU stage of the lowest rank; device stages that are ready together
/// are issued in the order of their ranks. The functions are called on several threads at once, up
/// to once per stage and frame, in the path of the frame: they must not allocate, lock or wait. An
/// exception ends the run with a message that names the policy, the stage and the frame.
class scheduling_policy {
 public:
  virtual ~scheduling_policy() = default;

  /// Called when a stage becomes ready.
  virtual policy_rank rank(const ready_job& job) const = 0;

  /// Holds a stage back: returns the host time until which it must not start; `now` or less to
  /// start it. Called when a worker or the issuing thread has taken the stage, and again when one
  /// takes it after that time. All holds of a stage in a frame may add up to one second; a hold
  /// counts as at least 10 us. Used if the kind states `holds`.
  virtual nanoseconds hold_until(const ready_job& /*job*/, nanoseconds now) const { return now; }
};

/// A kind of policy, named by the setting `policy`.
struct policy_kind {
  std::string name;
  std::string description = {};  ///< one sentence, for `graphline policies`
  std::string source = {};       ///< in the literature; empty for a plug-in's own
  std::vector<parameter> parameters = {};
  bool needs_times = false;  ///< needs expected times of stages
  bool uses_priorities = true;
  bool needs_deadline = false;    ///< needs a deadline of each frame or of a stage
  bool holds = false;             ///< has `hold_until`
  urgency order = urgency::none;  ///< that it keeps
  /// Creates the policy of a run. `stages` has the stages of all pipelines that it schedules, and
  /// outlives the policy; `seed` is the run's.
  std::function<std::unique_ptr<const scheduling_policy>(
      const arguments& given, std::span<const policy_stage> stages, std::uint64_t seed)>
      make = {};
  std::string origin = {};  ///< file of the plug-in; set by the loader
};

}  // namespace graphline
