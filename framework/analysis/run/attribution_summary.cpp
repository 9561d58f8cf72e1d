#include "framework/analysis/run/attribution_summary.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/lower_bound.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/period_limit.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/plan/rank_parts.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/timing_protocol.hpp"

namespace graphline {

namespace {

/// Order of the rows of a stage, and of the rows without a stage.
constexpr time_category in_order[] = {time_category::queue_wait,
                                      time_category::batch_wait,
                                      time_category::previous_frame_wait,
                                      time_category::worker_wait,
                                      time_category::completion_delay,
                                      time_category::untimed,
                                      time_category::cpu,
                                      time_category::launch,
                                      time_category::stream_wait,
                                      time_category::device,
                                      time_category::copy};

bool is_before_begin(time_category what) {
  return what == time_category::queue_wait || what == time_category::batch_wait;
}

bool is_work(time_category what) {
  return what == time_category::cpu || what == time_category::device || what == time_category::copy;
}

/// Frames over which each column is averaged.
struct groups {
  std::vector<std::size_t> all;
  std::vector<std::size_t> typical;
  std::vector<std::size_t> slowest;
  std::size_t median = 0;
};

/// @param held_up Frames that a standstill of the process delayed; only `all` contains them.
groups group(const std::vector<nanoseconds>& times, const std::set<std::size_t>& held_up) {
  std::vector<std::size_t> by_time(times.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  const std::size_t all = times.size();
  if (held_up.size() < all) {
    std::erase_if(by_time, [&](std::size_t frame) { return held_up.contains(frame); });
  }
  const std::size_t count = by_time.size();
  const auto at = [&](std::size_t rank) {
    return by_time.begin() + static_cast<std::ptrdiff_t>(rank);
  };
  groups result;
  result.all.resize(all);
  std::iota(result.all.begin(), result.all.end(), std::size_t{0});
  result.median = *at(rank_of(0.5, count));
  result.typical.assign(at(rank_of(0.45, count)), at(rank_of(0.55, count)) + 1);
  std::sort(result.typical.begin(), result.typical.end());
  const std::size_t slow = (count + 99) / 100;
  result.slowest.assign(by_time.rbegin(), by_time.rbegin() + static_cast<std::ptrdiff_t>(slow));
  return result;
}

/// Rows in display order, by position of the stage (0 before all stages) and index of the category.
using placed_rows = std::map<std::pair<std::size_t, std::ptrdiff_t>, attribution_row>;

attribution_row& row_of(placed_rows& rows, const path_piece& piece, std::size_t stages) {
  const bool first = is_before_begin(piece.what) || piece.what == time_category::launch;
  const auto place = piece.stage ? *piece.stage + 1 : first ? 0 : stages + 1;
  auto& row = rows[{place, std::ranges::find(in_order, piece.what) - in_order}];
  row.what = piece.what;
  row.stage = piece.stage;
  return row;
}

bool are_stages_timed(const settings& run) {
  return run.timing == timing_method::sync || traits_of(run.timing).tells_spans;
}

/// Accumulates time on and off the path by stage.
class path_times {
 public:
  explicit path_times(const run_record& record)
      : record_(record),
        passes_(record),
        stages_(record.stages.size()),
        on_path_(record.stages.size(), 0),
        for_device_(std::max<std::size_t>(1, record.devices.size())) {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      stages_[s].by_bucket.resize(std::max<std::size_t>(1, record.stages[s].buckets.size()));
    }
  }

  void add(std::size_t frame, const std::vector<path_piece>& pieces) {
    const std::size_t pass = passes_.of(frame);
    for (auto& of_one : for_device_) of_one.clear();
    for (const auto& piece : pieces) {
      const bool by_device = piece.stage && record_.stages[*piece.stage].on == side::device;
      if (by_device && (is_work(piece.what) || piece.what == time_category::stream_wait)) {
        const std::size_t device = record_.stages[*piece.stage].device_index;
        for_device_[device].push_back({piece.begin, piece.end});
      }
      if (!is_work(piece.what)) continue;
      const auto length = static_cast<double>(piece.length());
      auto& stage = stages_[*piece.stage];
      on_path_[*piece.stage] = piece.length();
      stage.on_path += length;
      stage.by_bucket[bucket_of(record_.stages[*piece.stage], pass)] += length;
      stage.share_of_frames += 1;
    }
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const nanoseconds on_path = std::exchange(on_path_[s], 0);
      const auto stamps = work_stamps(record_.stages[s], pass);
      if (!stamps) continue;
      nanoseconds off_path = stamps->length() - on_path;
      const stage_record& stage = record_.stages[s];
      if (on_path == 0 && stage.on == side::device && device_of(record_, stage).one_at_a_time) {
        off_path -= in_the_way(for_device_[stage.device_index], *stamps);
      }
      stages_[s].off_path += static_cast<double>(std::max<nanoseconds>(0, off_path));
    }
  }

  std::vector<path_stage> means() && {
    const auto frames = static_cast<double>(record_.frames.size());
    for (auto& stage : stages_) {
      stage.on_path /= frames;
      for (auto& time : stage.by_bucket) time /= frames;
      stage.off_path /= frames;
      stage.share_of_frames /= frames;
    }
    return std::move(stages_);
  }

 private:
  /// Returns for how much of `stamps` a stage of the path ran on the device or waited for the
  /// device.
  static nanoseconds in_the_way(const std::vector<stamp_pair>& path, const stamp_pair& stamps) {
    auto at =
        std::upper_bound(path.begin(), path.end(), stamps.begin,
                         [](nanoseconds t, const stamp_pair& piece) { return t < piece.end; });
    nanoseconds sum = 0;
    for (; at != path.end() && at->begin < stamps.end; ++at) {
      sum += std::min(at->end, stamps.end) - std::max(at->begin, stamps.begin);
    }
    return sum;
  }

  const run_record& record_;
  run_passes passes_;
  std::vector<path_stage> stages_;
  std::vector<nanoseconds> on_path_;  ///< by stage, in the current frame
  /// By device: its pieces of the current frame's path.
  std::vector<std::vector<stamp_pair>> for_device_;
};

std::vector<nanoseconds> running_times(const run_record& record) {
  std::vector<nanoseconds> times;
  for (const auto& frame : record.frames) times.push_back(frame.end - frame.begin);
  return times;
}

/// Returns the mean over frames.
double mean_bound(const lower_bounds& bounds, const run_passes& passes, schedules of) {
  double sum = 0;
  double frames = 0;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    const auto count = static_cast<double>(passes.frames_in(pass));
    sum += count * static_cast<double>(bounds.of(pass, of).time);
    frames += count;
  }
  return sum / frames;
}

// ---- Findings -----------------------------------------------------------------------------------

// Smallest reported fraction of a frame.
constexpr double least_share = 0.02;

// Minimum number of frames for a meaningful group of slowest frames.
constexpr std::size_t least_frames = 20;

// Minimum fraction of a finding's total that a listed entry contributes.
constexpr double least_contribution = 0.1;

quantity time_of(double ns) {
  return {ns, unit::duration};
}

double growth(const attribution_row& row) {
  return row.slowest - row.typical;
}

/// Returns "device time", "queue wait".
std::string name_of(time_category what) {
  return in_words(what) + (is_work(what) || what == time_category::launch ? " time" : "");
}

/// Returns the rows that grew most from typical to slow frames, largest growth first. Their growth
/// can exceed that of the frame, because other rows may shrink.
std::vector<attribution_row> grown_most(const attribution_summary& summary, double more) {
  constexpr std::size_t most_named = 3;
  auto rows = summary.rows;
  std::erase_if(rows, [&](const auto& row) { return growth(row) < least_contribution * more; });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return growth(a) > growth(b); });
  rows.resize(std::min(rows.size(), most_named));
  return rows;
}

void add_slow_frames(const run_record& record, const attribution_summary& summary,
                     std::vector<finding>& to) {
  if (record.frames.size() < least_frames) return;
  const double more = summary.end_to_end.slowest - summary.end_to_end.typical;
  const auto doubt = 2 * static_cast<double>(record.clock_error);
  if (more < std::max(least_share * summary.end_to_end.typical, doubt)) return;
  finding_items items;
  for (const auto& row : grown_most(summary, more)) {
    items.push_back({name_of(row.what), row.stage ? record.stages[*row.stage].name : "",
                     time_of(growth(row)), growth(row) / more});
  }
  auto found = finding{"slow_frames"}
                   .with("frames", summary.slowest_frames.size())
                   .with("more", time_of(more));
  if (!items.empty()) found.with("pieces", std::move(items));
  to.push_back(std::move(found));
}

/// Returns true if a stage of the critical path does not depend on its predecessor on the path and
/// follows it only because of the schedule.
bool follows_schedule(const run_record& record, const lower_bound& bound) {
  if (bound.by != limited_by::critical_path) return false;
  for (std::size_t i = 1; i < bound.stages.size(); ++i) {
    const auto& waits = record.stages[bound.stages[i]].waits;
    const auto before = bound.stages[i - 1];
    if (std::ranges::find(waits, before, &wait_record::stage) == waits.end()) return true;
  }
  return false;
}

/// Returns true if the stages of the bound keep the cores or the device busy for at least half of
/// the median frame. Otherwise something else limits the frame.
bool fills(const run_record& record, const attribution_summary& summary) {
  const auto& median = summary.bound_of_median;
  const auto pass = run_passes(record).of(summary.median_frame);
  nanoseconds work = 0;
  for (const auto stage : median.stages) {
    if (const auto stamps = work_stamps(record.stages[stage], pass)) {
      work += stamps->length();
    }
  }
  const bool cores = median.by == limited_by::cpu_cores && !properties_of(record.run).one_launch;
  const auto& frame = record.frames[summary.median_frame];
  return 2 * work / std::max(cores ? record.cpu_cores : 1, 1) >= frame.end - frame.begin;
}

/// Names the stages that fill the frame period or, if none do, determine the lower bound.
void add_lower_bound(const run_record& record, const attribution_summary& summary,
                     std::vector<finding>& to) {
  if (record.stages.size() < 2 || !summary.bound || !summary.bound_of_any) return;
  const auto& median = summary.bound_of_median;
  if (*summary.bound <= 0 || median.stages.empty()) return;
  const auto full = limit_of_period(record);
  finding found{full ? to_word(full->what) : to_word(median.by)};
  for (const auto stage : full ? full->stages : median.stages) {
    found.subjects.push_back(record.stages[stage].name);
  }
  if (!full && follows_schedule(record, median)) found.with("of", std::string("this schedule"));
  if (found.key == to_word(limited_by::cpu_cores)) {
    const int cores = properties_of(record.run).one_launch ? 1 : record.cpu_cores;
    found.with("cores", cores);
  }
  if (full || median.by != limited_by::critical_path) {
    const bool limits = full || fills(record, summary);
    found.with("says", std::string(limits ? "limited by" : "the lower bound is set by"));
  }
  if (full) {
    found.with("busy", quantity{full->share, unit::share}).with("period", time_of(full->period));
  }
  const bool one_bound =
      to_text(time_of(*summary.bound)) == to_text(time_of(*summary.bound_of_any));
  found.with(one_bound ? "bound" : "bound_of_schedule", time_of(*summary.bound));
  if (!one_bound) found.with("bound_of_any", time_of(*summary.bound_of_any));
  found.with("running", time_of(summary.running));
  // The bound covers stages only, so it excludes the wait before a frame's begin.
  if (record.run.arrival != arrival::closed) {
    found.with("without",
               std::string(record.run.batch_frames > 1 ? "queue and batch waits" : "queue wait"));
  }
  const double above = summary.running / *summary.bound;
  if (above < 2) {
    found.with("above", quantity{std::max(0.0, above - 1), unit::share});
  } else {
    found.with("ratio", quantity{above, unit::ratio});
  }
  to.push_back(std::move(found));
}

void add_overlap(const run_record& record, const attribution_summary& summary,
                 std::vector<finding>& to) {
  double hidden = 0;
  for (const auto& stage : summary.stages) hidden += stage.off_path;
  // Device and host stamps may differ at either end of a stage.
  const auto doubt = 2 * static_cast<double>(record.clock_error);
  if (hidden <= 0 || hidden < std::max(least_share * summary.running, doubt)) return;
  std::vector<std::size_t> by_share;
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    if (summary.stages[s].off_path >= least_contribution * hidden) by_share.push_back(s);
  }
  std::stable_sort(by_share.begin(), by_share.end(), [&](std::size_t a, std::size_t b) {
    return summary.stages[a].off_path > summary.stages[b].off_path;
  });
  finding_items items;
  for (const std::size_t s : by_share) {
    const auto& stage = summary.stages[s];
    items.push_back({"", record.stages[s].name, time_of(stage.off_path),
                     stage.off_path / (stage.on_path + stage.off_path)});
  }
  to.push_back(
      finding{"overlap_hid"}.with("hidden", time_of(hidden)).with("pieces", std::move(items)));
}

}  // namespace

std::optional<attribution_summary> attribute(const run_record& record, std::string why_no_queue) {
  if (record.frames.empty() || record.run.timing == timing_method::none) return std::nullopt;
  const bool queued = why_no_queue.empty();
  const auto running = running_times(record);
  const auto times = queued ? end_to_end_times(record) : running;
  const auto held_up = frames_held_up(record);
  auto frames = group(times, held_up);
  if (!queued) frames.median = group(end_to_end_times(record), held_up).median;
  const attributor paths(record);

  attribution_summary result;
  result.why_no_queue = std::move(why_no_queue);
  placed_rows rows;
  path_times stages(record);
  const auto add_column = [&](const std::vector<std::size_t>& group, auto row_column, auto column) {
    for (const auto f : group) {
      const auto found = paths.of(f);
      for (const auto& piece : found.pieces) {
        if (!queued && is_before_begin(piece.what)) continue;
        row_of(rows, piece, record.stages.size()).*row_column +=
            static_cast<double>(piece.length());
      }
      result.end_to_end.*column += static_cast<double>(times[f]);
      result.residual.*column += static_cast<double>(found.residual);
      if (&group != &frames.all) continue;
      stages.add(f, found.pieces);
      result.largest_residual = std::max(result.largest_residual, std::abs(found.residual));
    }
    const auto count = static_cast<double>(group.size());
    for (auto& [place, row] : rows) row.*row_column /= count;
    result.end_to_end.*column /= count;
    result.residual.*column /= count;
  };
  using row = attribution_row;
  using whole = attribution_summary::per_group;
  add_column(frames.all, &row::all, &whole::all);
  add_column(frames.typical, &row::typical, &whole::typical);
  add_column(frames.slowest, &row::slowest, &whole::slowest);
  for (const auto& [place, one] : rows) result.rows.push_back(one);
  result.typical_frames = std::move(frames.typical);
  result.slowest_frames = std::move(frames.slowest);
  result.median_frame = frames.median;
  result.running = mean_of(std::vector<double>(running.begin(), running.end()));
  if (are_stages_timed(record.run)) {
    result.stages = std::move(stages).means();
    // The stages of other ranks, for which such a frame waits, are not in this record.
    const auto receives = [](const stage_record& stage) {
      return stage.kind == receive_kind || stage.kind == await_kind;
    };
    if (std::ranges::any_of(record.stages, receives)) return result;
    const lower_bounds bounds(record);
    const run_passes passes(record);
    result.bound = mean_bound(bounds, passes, schedules::this_one);
    result.bound_of_any = mean_bound(bounds, passes, schedules::any);
    result.bound_of_median = bounds.of(passes.of(frames.median), schedules::this_one);
  }
  return result;
}

std::vector<finding> attribution_findings(const run_record& record,
                                          const attribution_summary& summary) {
  std::vector<finding> result;
  if (record.frames.empty()) return result;
  add_slow_frames(record, summary, result);
  add_lower_bound(record, summary, result);
  add_overlap(record, summary, result);
  return result;
}

}  // namespace graphline
