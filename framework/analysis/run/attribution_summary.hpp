#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/run/lower_bound.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Mean time of one category and stage on the critical path, in nanoseconds per frame.
struct attribution_row {
  time_category what = time_category::queue_wait;
  std::optional<std::size_t> stage;
  double all = 0;
  double typical = 0;  ///< mean over frames around the median
  double slowest = 0;  ///< mean over the slowest frames
};

struct path_stage {
  double on_path = 0;             ///< mean time on the path, in ns per frame
  std::vector<double> by_bucket;  ///< `on_path` in frames of each bucket; one without buckets
  /// Mean time off the path, in ns per frame. On a device that executes one operation at a time,
  /// excludes the time the stage waited for stages of the path.
  double off_path = 0;
  double share_of_frames = 0;  ///< fraction of frames with the stage on the path
};

/// Attribution of a run. In each column, rows and residual sum to the end-to-end time.
struct attribution_summary {
  /// Reason for excluding queue and batch waits; empty if they are included. If set, frame times
  /// start at the frame's begin instead of its due time.
  std::string why_no_queue;
  /// In path order: queue wait, batch wait, launch of the frame's graph, the categories of each
  /// stage in planned order, waits at the frame's end. Omits rows without time in any frame.
  std::vector<attribution_row> rows;
  struct per_group {
    double all = 0;
    double typical = 0;
    double slowest = 0;
  };
  per_group end_to_end;  ///< time from due to end, or from begin if `why_no_queue` is set
  per_group residual;
  double running = 0;                ///< mean time from begin to end, in ns
  nanoseconds largest_residual = 0;  ///< largest absolute residual of a frame

  /// Indices of frames. Typical frames are those from the 45th to the 55th percentile of the
  /// end-to-end time, and slowest frames are the slowest 1 %, at least one. Both exclude frames
  /// that a standstill of the process delayed, unless it delayed all frames.
  std::vector<std::size_t> typical_frames;
  std::vector<std::size_t> slowest_frames;  ///< slowest first
  std::size_t median_frame = 0;             ///< median time from due to end, by nearest rank

  std::vector<path_stage> stages;  ///< by stage; empty under `timing: host`

  /// Mean lower bounds over all frames, in ns; empty under `timing: host`.
  std::optional<double> bound;         ///< lower bound for this schedule
  std::optional<double> bound_of_any;  ///< lower bound for any schedule
  lower_bound bound_of_median;         ///< lower bound of the median frame, for this schedule
};

/// Attributes all frames of a run; empty without frames or under `timing: none`. Excludes queue
/// waits if `why_no_queue` is not empty.
std::optional<attribution_summary> attribute(const run_record& record,
                                             std::string why_no_queue = {});

/// Returns up to three findings:
/// - "slow_frames": why slow frames are slow
/// - The resource that fills the frame period (see `limit_of_period`) or, if none does, what
///   determines the lower bound ("critical_path", "cpu_cores" or "device")
/// - "overlap_hid": how much time overlap hides
/// Omits the first and the last below 2 % of a frame or twice the clock error, and the first for
/// fewer than 20 frames.
std::vector<finding> attribution_findings(const run_record& record,
                                          const attribution_summary& summary);

}  // namespace graphline
