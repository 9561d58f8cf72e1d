#include "framework/campaign/predict/source_times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/plan/schedules/schedule.hpp"

namespace graphline {
namespace {

constexpr std::size_t least_source_frames = 5;
constexpr double most_overlap = 0.05;  // of the time of device stages

/// Work on a device: what its events enclose, and the end of its launch; 0 if that is not known.
struct device_interval {
  stamp_pair on_device;
  nanoseconds launched = 0;
  std::size_t device = 0;
};

/// Returns the work, in order of its begin, of the device stages that `counts` accepts.
template <class Predicate>
std::vector<device_interval> device_work_of(const run_record& run, const Predicate& counts) {
  std::vector<device_interval> all;
  for (const stage_record& stage : run.stages) {
    if (stage.device.empty() || !counts(stage)) continue;
    for (std::size_t frame = 0; frame < run.frames.size(); ++frame) {
      if (!ran(stage, frame)) continue;
      const nanoseconds launched = stage.enqueued.empty() ? 0 : stage.enqueued[frame].end;
      all.push_back({stage.device[frame], launched, stage.device_index});
    }
  }
  std::ranges::sort(all, {}, [](const device_interval& work) { return work.on_device.begin; });
  return all;
}

/// Returns the share of the device stages' time in which another one was running on the same
/// device. 0 if the device reports how long it worked on each.
double overlap_on_device(const run_record& run) {
  nanoseconds total = 0;
  nanoseconds overlap = 0;
  for (std::size_t device = 0; device < std::max<std::size_t>(1, run.devices.size()); ++device) {
    nanoseconds busy_until = 0;
    for (const auto& [work, launched, on] : device_work_of(run, [&](const stage_record& stage) {
           return stage.device_index == device && !stage.copy && stage.busy.empty();
         })) {
      total += work.length();
      overlap += std::max<nanoseconds>(0, std::min(busy_until, work.end) - work.begin);
      busy_until = std::max(busy_until, work.end);
    }
  }
  return total > 0 ? static_cast<double>(overlap) / static_cast<double>(total) : 0;
}

std::vector<std::int64_t> bucket_rows(const planned_stage& stage) {
  std::vector<std::int64_t> rows;
  for (const planned_bucket& bucket : stage.buckets) rows.push_back(bucket.rows);
  return rows;
}

/// Reads the times of one source.
class source_reader {
 public:
  source_reader(const plan& p, const prediction_source& source)
      : plan_(p), source_(source), from_(source.run) {
    check_source();
    const std::set<std::size_t> held_up = frames_held_up(from_);
    for (std::size_t frame = 0; frame < from_.frames.size(); ++frame) {
      if (!held_up.contains(frame)) frames_.push_back(frame);
    }
    if (frames_.size() < least_source_frames) {
      refuse(fmt::format("it has {} complete frame{}, and {} are needed", frames_.size(),
                         frames_.size() == 1 ? "" : "s", least_source_frames));
    }
    check_tensors();
  }

  /// Frames that can be replayed.
  const std::vector<std::size_t>& frames() const noexcept { return frames_; }

  /// Appends the times of a stage.
  void add_times(const planned_stage& stage, stage_times& made) const {
    const auto known = std::ranges::find(from_.stages, stage.name, &stage_record::name);
    if (known == from_.stages.end()) {
      refuse(fmt::format("it has no stage '{}'; {}", stage.name,
                         stage.inserted ? "measure a placement that needs this copy"
                                        : "measure the pipeline again"));
    }
    if (known->kind != stage.kind->name) {
      refuse(
          fmt::format("stage '{}' is of kind '{}' there, but '{}' in the pipeline; measure the "
                      "pipeline again",
                      stage.name, known->kind, stage.kind->name));
    }
    if (known->on != stage.on) {
      refuse(fmt::format("stage '{}' ran on the {} there", stage.name, to_word(known->on)));
    }
    const auto column = stage.on == side::cpu ? lengths(known->cpu) : device_times(*known);
    if (column.size() != from_.frames.size()) {
      refuse(fmt::format("it has no times of stage '{}'; measure the pipeline again", stage.name));
    }
    const auto issue = lengths(known->enqueued);
    const std::vector<std::int64_t> buckets = bucket_rows(stage);
    for (const std::size_t frame : frames_) {
      const bool has_run = ran(*known, frame);
      if (!has_run && !stage.decided_per_frame()) {
        refuse(fmt::format("stage '{}' did not run in every frame there", stage.name));
      }
      made.ran = made.ran || has_run;
      made.work.push_back(has_run ? work_in(*known, column, frame, buckets) : 0);
      if (!issue.empty()) made.issue.push_back(issue[frame]);
      if (!stage.decided_per_frame()) continue;
      if (known->rows.empty()) {
        refuse(
            fmt::format("stage '{}' did not depend on the frame there; measure the pipeline "
                        "again",
                        stage.name));
      }
      made.rows.push_back(known->rows[frame]);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { refuse_source(plan_, source_, why); }

  void check_source() const {
    if (from_.prediction) refuse("it is itself a prediction; use a measured run");
    if (from_.failure) refuse("it failed");
    if (goes_back(from_)) refuse("some of its times end before they begin");
    if (from_.run.timing != timing_method::event) {
      refuse(
          fmt::format("it was measured with timing={}, expected event; measure it with "
                      "--timing event",
                      to_word(from_.run.timing)));
    }
    if (plan_.run.batch_frames > 1) {
      throw input_error(
          fmt::format("batch_frames: {}: results have no times of batches of frames; set it to 1",
                      plan_.run.batch_frames));
    }
    if (!from_.batches.empty()) {
      refuse("its frames ran in batches; measure it with --batch-frames 1");
    }
    if (const double share = overlap_on_device(from_); share > most_overlap) {
      refuse(fmt::format(
          "its device stages ran side by side for {:.0f} % of their time, so these times "
          "include waits for each other; measure it with --strategy serial",
          100 * share));
    }
  }

  void check_tensors() const {
    for (const planned_tensor& tensor : plan_.tensors) {
      const auto known = std::ranges::find(from_.tensors, tensor.name, &tensor_record::name);
      if (known == from_.tensors.end() || known->type == tensor.type) continue;
      refuse(
          fmt::format("tensor '{}' is {} there, but {} in the pipeline; measure the pipeline "
                      "with these parameters",
                      tensor.name, to_string(known->type), to_string(tensor.type)));
    }
  }

  /// Returns the time of a frame. If the plan computes another number of rows than the source did,
  /// returns the mean of the source's frames that computed this number.
  nanoseconds work_in(const stage_record& known, const std::vector<nanoseconds>& column,
                      std::size_t frame, const std::vector<std::int64_t>& buckets) const {
    if (buckets.empty() || known.buckets.empty() || known.rows.empty()) return column[frame];
    const auto wanted = std::ranges::lower_bound(
        buckets, std::min<std::int64_t>(known.rows[frame], buckets.back()));
    const auto rows_there = [&](std::size_t f) { return known.buckets[bucket_of(known, f)].rows; };
    if (rows_there(frame) == *wanted) return column[frame];
    std::vector<double> same;
    for (const std::size_t f : frames_) {
      if (ran(known, f) && rows_there(f) == *wanted) same.push_back(static_cast<double>(column[f]));
    }
    if (same.empty()) {
      refuse(
          fmt::format("no frame ran stage '{}' with {} rows there; measure the pipeline with "
                      "these buckets",
                      known.name, *wanted));
    }
    return std::llround(mean_of(same));
  }

  const plan& plan_;
  const prediction_source& source_;
  const run_record& from_;
  std::vector<std::size_t> frames_;
};

/// Returns what keeps two runs from being sources of one prediction; empty if nothing.
std::string_view difference_of(const run_record& a, const run_record& b) {
  if (a.run.strategy != b.run.strategy) return "strategy";
  if (a.run.graphs != b.run.graphs) return "graphs";
  if (a.run.in_flight != b.run.in_flight) return "in_flight";
  if (a.run.threads != b.run.threads) return "threads";
  const auto equal = [](const device_record& one, const device_record& other) {
    return one.name == other.name && runs_alike(one.properties, other.properties);
  };
  if (!std::ranges::equal(devices_of(a), devices_of(b), equal)) return "device";
  return a.cpu_cores == b.cpu_cores ? "" : "number of cores";
}

/// @throws input_error unless the sources are different runs under the same conditions
void check_together(const std::vector<prediction_source>& sources) {
  std::set<std::string> names;
  for (const auto& [name, run] : sources) {
    if (!names.insert(name).second) {
      throw input_error(fmt::format("{}: named twice; each source is a run of its own", name));
    }
    const std::string_view other = difference_of(run, sources.front().run);
    if (other.empty()) continue;
    throw input_error(
        fmt::format("{}: measured with another {} than {}; all results must be of the same "
                    "settings on the same machine",
                    name, other, sources.front().name));
  }
}

nanoseconds median_or_0(std::vector<nanoseconds> sample) {
  return sample.empty() ? 0 : lower_median(std::move(sample));
}

/// Returns the delays of completions that the host was waiting for.
void add_completion_delays(const run_record& from, std::vector<nanoseconds>& delays) {
  const auto add = [&](std::size_t stage, std::size_t frame) {
    const stage_record& of = from.stages[stage];
    if (of.seen.empty() || of.device.empty() || !ran(of, frame)) return;
    delays.push_back(std::max<nanoseconds>(0, of.seen[frame] - of.device[frame].end));
  };
  for (const stage_record& stage : from.stages) {
    for (std::size_t frame = 0; frame < stage.causes.size(); ++frame) {
      if (stage.causes[frame] >= 0) add(static_cast<std::size_t>(stage.causes[frame]), frame);
    }
  }
  // With several frames in flight, one host thread sees the ends of frames between other work.
  const bool polled = properties_of(from.run).in_order && from.run.in_flight > 1;
  for (std::size_t frame = 0; !polled && frame < from.ended_by.size(); ++frame) {
    add(from.ended_by[frame], frame);
  }
}

/// Adds the times from what a CPU stage waited for to its start on another thread.
void add_wake_ups(const run_record& from, std::vector<nanoseconds>& times) {
  for (const stage_record& stage : from.stages) {
    if (stage.on != side::cpu) continue;
    for (std::size_t frame = 0; frame < stage.causes.size(); ++frame) {
      if (stage.causes[frame] < 0 || !ran(stage, frame)) continue;
      const stage_record& before = from.stages[static_cast<std::size_t>(stage.causes[frame])];
      const bool on_cpu = before.on == side::cpu;
      if ((on_cpu ? before.cpu.empty() : before.seen.empty()) || stage.threads.empty()) continue;
      if (before.threads.empty() || stage.threads[frame] == before.threads[frame]) continue;
      if (!ran(before, frame)) continue;
      const nanoseconds ready = on_cpu ? before.cpu[frame].end : before.seen[frame];
      times.push_back(std::max<nanoseconds>(0, stage.cpu[frame].begin - ready));
    }
  }
}

/// Adds the times from a launch to the start of its work, of launches on a device that was idle for
/// `long_idle` or longer, and of those on one that was idle for less. Leaves out work before which
/// another device worked after the launch: it can wait for that device.
void add_device_starts(const run_record& from, std::vector<nanoseconds>& after_long,
                       std::vector<nanoseconds>& after_short) {
  std::map<std::size_t, nanoseconds> busy_until;  // by device
  nanoseconds any_until = 0;
  for (const auto& [on_device, launched, device] :
       device_work_of(from, [](const stage_record& stage) { return !stage.enqueued.empty(); })) {
    nanoseconds& own_until = busy_until[device];
    if (any_until <= launched) {
      auto& times = launched - own_until >= long_idle ? after_long : after_short;
      times.push_back(std::max<nanoseconds>(0, on_device.begin - launched));
    }
    own_until = std::max(own_until, on_device.end);
    any_until = std::max(any_until, on_device.end);
  }
}

/// Returns the time of a frame from when it was due, in ns.
double end_to_end(const frame_record& frame) {
  return static_cast<double>(frame.end - frame.due);
}

}  // namespace

source_times::source_times(const plan& p, const std::vector<prediction_source>& sources,
                           const prediction_options& options)
    : plan_(p), stages_(p.stages.size()) {
  check_together(sources);
  for (const prediction_source& source : sources) add(source);
  for (const auto& [stage, factor] : options.scale) scale(stage, factor);
  for (const stage_times& stage : stages_) {
    std::vector<nanoseconds> times;
    for (std::size_t f = 0; f < stage.work.size(); ++f) {
      if (stage.rows.empty() || stage.rows[f] > 0) times.push_back(stage.work[f]);
    }
    expected_.push_back(times.empty() ? 0 : lower_median(std::move(times)));
  }
}

void source_times::add(const prediction_source& source) {
  const source_reader reader(plan_, source);
  const std::vector<std::size_t>& frames = reader.frames();
  const std::size_t first = count();
  std::vector<double> series;
  for (const std::size_t frame : frames) series.push_back(end_to_end(source.run.frames[frame]));
  double length = automatic_block_length(series);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    reader.add_times(plan_.stages[s], stages_[s]);
    const auto& work = stages_[s].work;
    series.assign(work.begin() + static_cast<std::ptrdiff_t>(first), work.end());
    length = std::max(length, automatic_block_length(series));
  }
  const double most = static_cast<double>(frames.size()) / 5;
  block_length_ =
      std::max(block_length_, static_cast<std::size_t>(std::ceil(std::min(2 * length, most))));
  counts_.push_back(frames.size());

  // Measured, or the longest of the frame's stages.
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& launches = source.run.launches;
    nanoseconds longest = launches.empty() ? 0 : launches[frames[i]].length();
    for (const stage_times& stage : stages_) {
      if (!stage.issue.empty()) longest = std::max(longest, stage.issue[first + i]);
    }
    launch_.push_back(longest);
  }
}

void source_times::scale(const std::string& name, double factor) {
  for (nanoseconds& time : stages_[stage_named(plan_, name, "--scale")].work) {
    time = std::llround(static_cast<double>(time) * factor);
  }
}

longest_times source_times::longest(std::size_t stage) const {
  const auto longest_of = [](const std::vector<nanoseconds>& all) {
    return all.empty() ? nanoseconds{0} : std::ranges::max(all);
  };
  const stage_times& of = stages_[stage];
  return {longest_of(of.work), longest_of(of.issue), of.ran};
}

nanoseconds source_times::longest_launch() const {
  return launch_.empty() ? 0 : std::ranges::max(launch_);
}

virtual_times source_times::replay(std::span<const std::uint32_t> order,
                                   std::optional<std::size_t> faster) const {
  const auto at = [order](const frame_position& frame) {
    return order[static_cast<std::size_t>(frame.index) % order.size()];
  };
  virtual_times times;
  times.expected = expected_;
  times.work = [this, at, faster](std::size_t stage, const frame_position& frame) {
    const nanoseconds time = stages_[stage].work[at(frame)];
    return faster == stage ? std::llround(0.9 * static_cast<double>(time)) : time;
  };
  times.issue = [this, at](std::size_t stage, const frame_position& frame) {
    const auto& issue = stage == stages_.size() ? launch_ : stages_[stage].issue;
    return issue.empty() ? 0 : issue[at(frame)];
  };
  times.rows = [this, at](std::size_t stage, const frame_position& frame) {
    return stages_[stage].rows[at(frame)];
  };
  return times;
}

source_overheads overheads_of(const std::vector<prediction_source>& sources) {
  std::vector<nanoseconds> delays;
  std::vector<nanoseconds> wake_ups;
  std::vector<nanoseconds> starts;
  std::vector<nanoseconds> restarts;
  for (const prediction_source& source : sources) {
    add_completion_delays(source.run, delays);
    add_wake_ups(source.run, wake_ups);
    add_device_starts(source.run, starts, restarts);
  }
  source_overheads found;
  found.completion_delay = median_or_0(std::move(delays));
  if (starts.empty()) starts = restarts;
  if (restarts.empty()) restarts = starts;
  found.device_start = median_or_0(std::move(starts));
  found.device_restart = median_or_0(std::move(restarts));
  found.wake_up = found.completion_delay;
  if (!wake_ups.empty()) {
    const auto quartile = wake_ups.begin() + static_cast<std::ptrdiff_t>((wake_ups.size() - 1) / 4);
    std::ranges::nth_element(wake_ups, quartile);
    found.wake_up = *quartile;
  }
  return found;
}

void refuse_source(const plan& p, const prediction_source& source, const std::string& why) {
  const std::string of = source.run.pipeline == p.pipeline
                             ? ""
                             : fmt::format(" of pipeline '{}'", source.run.pipeline);
  throw input_error(
      fmt::format("{}: cannot use the stage times of this run{}: {}", source.name, of, why));
}

std::vector<device_record> devices_of(const run_record& run) {
  if (!run.devices.empty()) return run.devices;
  return {{.name = "", .properties = run.device}};
}

bool runs_alike(const device_properties& a, const device_properties& b) noexcept {
  return a.backend == b.backend && a.name == b.name && a.compute_threads == b.compute_threads;
}

std::size_t stage_named(const plan& p, const std::string& name, std::string_view option) {
  const auto stage = std::ranges::find(p.stages, name, &planned_stage::name);
  if (stage == p.stages.end()) {
    std::vector<std::string> names;
    for (const planned_stage& each : p.stages) names.push_back(each.name);
    throw input_error(fmt::format("{} {}: the pipeline has no such stage{}", option, name,
                                  suggestion(name, names)));
  }
  return static_cast<std::size_t>(stage - p.stages.begin());
}

}  // namespace graphline
