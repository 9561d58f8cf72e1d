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

/// What one thing takes of a frame's time on the path, in nanoseconds, averaged over frames.
struct attribution_row {
  time_category what = time_category::queue_wait;
  std::optional<std::size_t> stage;
  double all = 0;      ///< over all frames
  double typical = 0;  ///< over the frames around the median
  double slowest = 0;  ///< over the slowest ones
};

/// A stage seen from the path.
struct path_stage {
  double on_path = 0;  ///< ns of its time a frame that bound the frame, on average
  /// ns of its time a frame that ran beside the path; on a device that carries out one thing at a
  /// time without what it waited there for stages of the path.
  double off_path = 0;
  double share_of_frames = 0;  ///< frames in which any of its time bound the frame, as a part
};

/// Where the time of all frames of a run went. Each column of `rows`, with its residual, sums to
/// its end-to-end time.
struct attribution_summary {
  /// Why queue waits are left out; empty where they are not. Then a frame's time is that from its
  /// begin to its end, by which frames are grouped too.
  std::string why_no_queue;
  /// In order of the path: queue, the launch of the frame's graph, what belongs to each stage in
  /// planned order, the host's last look. Only what took time in some frame.
  std::vector<attribution_row> rows;
  struct per_group {
    double all = 0;
    double typical = 0;
    double slowest = 0;
  };
  per_group end_to_end;  ///< from due to end; from begin to end where `why_no_queue` is given
  per_group residual;
  double running = 0;  ///< ns from begin to end of a frame, without its queue wait, over all frames
  nanoseconds largest_residual = 0;  ///< of a frame, as an absolute value

  /// Indices of frames by group: from the 45th to the 55th percentile of the end-to-end times (the
  /// median frame among them), and the slowest 1 %, at least one.
  std::vector<std::size_t> typical_frames;
  std::vector<std::size_t> slowest_frames;  ///< slowest first
  std::size_t median_frame = 0;             ///< by nearest rank, from due to end in any case

  std::vector<path_stage> stages;  ///< by stage; empty under `host`, which times no device stage

  /// Means over all frames, in ns; nothing under `host`.
  std::optional<double> bound;         ///< lower bound for this schedule
  std::optional<double> bound_of_any;  ///< and for any
  lower_bound bound_of_median;         ///< for this schedule, of the median frame
};

/// Nothing without frames and under `timing: none`. With a reason it leaves queue waits out.
std::optional<attribution_summary> attribute(const run_record& record,
                                             std::string why_no_queue = {});

/// What makes slow frames slow ("slow_frames"), what bounds a frame and how near the run is to that
/// bound ("critical_path", "cpu_cores" or "device"; where something else leaves no room for another
/// frame that, as `limit_of_period` has it), and what overlap has hidden ("overlap_hid"):
/// none where the figures do not carry one (less than 2 % of a frame or than the clocks' error at
/// both ends; for slow frames, fewer than 20 frames).
std::vector<finding> attribution_findings(const run_record& record,
                                          const attribution_summary& summary);

}  // namespace graphline
