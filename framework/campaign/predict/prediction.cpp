#include "framework/campaign/predict/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/run/execute/virtual_session.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

constexpr std::size_t least_source_frames = 5;
constexpr double most_stage_runs = 4e6;  // of all replicates
constexpr std::int64_t least_replicates = 40;

/// Times of a stage by frame of the source.
struct source_stage {
  std::vector<nanoseconds> work;
  std::vector<nanoseconds> issue;  ///< empty for a CPU stage
  std::vector<std::int32_t> rows;  ///< empty if the stage runs whole in every frame
};

/// Stage times of a recorded run for the stages of a plan.
class source_times {
 public:
  source_times(const plan& p, const run_record& from, const std::string& name,
               const prediction_options& options)
      : plan_(p), from_(from), name_(name) {
    check_source();
    const std::set<std::size_t> held_up = frames_held_up(from);
    for (std::size_t frame = 0; frame < from.frames.size(); ++frame) {
      if (!held_up.contains(frame)) frames_.push_back(frame);
    }
    if (frames_.size() < least_source_frames) {
      refuse(fmt::format("it has {} complete frames, fewer than {}", frames_.size(),
                         least_source_frames));
    }
    check_tensors();
    for (const planned_stage& stage : p.stages) stages_.push_back(stage_from(stage));
    for (const auto& [stage, factor] : options.scale) scale(stage, factor);
    launch_ = launch_times();
  }

  /// Number of frames of the source that can be replayed.
  std::size_t count() const noexcept { return frames_.size(); }

  bool takes_time(std::size_t stage) const {
    return std::ranges::any_of(stages_[stage].work, [](nanoseconds time) { return time > 0; });
  }

  /// Returns times for a run whose frame f replays frame `order[f]`; more frames begin again. The
  /// time of stage `faster`, if any, is 10 % less.
  virtual_times replay(std::span<const std::uint32_t> order,
                       std::optional<std::size_t> faster = {}) const {
    const auto at = [order](const frame_position& frame) {
      return order[static_cast<std::size_t>(frame.index) % order.size()];
    };
    virtual_times times;
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

  /// Returns the length of blocks to resample: twice the largest automatic block length of the
  /// end-to-end times and of each stage's times, at most a fifth of the run. The automatic length
  /// minimizes the error of a variance; intervals hold what they state with longer blocks.
  std::size_t block_length() const {
    std::vector<double> series;
    for (const std::size_t frame : frames_) {
      series.push_back(static_cast<double>(from_.frames[frame].end - from_.frames[frame].due));
    }
    double length = automatic_block_length(series);
    for (const source_stage& stage : stages_) {
      series.assign(stage.work.begin(), stage.work.end());
      length = std::max(length, automatic_block_length(series));
    }
    const double most = static_cast<double>(frames_.size()) / 5;
    return static_cast<std::size_t>(std::ceil(std::min(2 * length, most)));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw input_error(fmt::format("{}: cannot predict from this run: {}", name_, why));
  }

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
    if (!from_.batches.empty() || plan_.run.batch_frames > 1) {
      refuse("the time of a batch of frames cannot be predicted; use batch_frames 1");
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

  source_stage stage_from(const planned_stage& stage) const {
    const auto known = std::ranges::find(from_.stages, stage.name, &stage_record::name);
    if (known == from_.stages.end()) {
      refuse(fmt::format("it has no stage '{}'; measure the pipeline again", stage.name));
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
    source_stage made;
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
    return made;
  }

  static std::vector<std::int64_t> bucket_rows(const planned_stage& stage) {
    std::vector<std::int64_t> rows;
    for (const planned_bucket& bucket : stage.buckets) rows.push_back(bucket.rows);
    return rows;
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

  void scale(const std::string& name, double factor) {
    const auto stage = std::ranges::find(plan_.stages, name, &planned_stage::name);
    if (stage == plan_.stages.end()) {
      throw input_error(fmt::format("--scale {}: the pipeline has no such stage", name));
    }
    for (nanoseconds& time : stages_[static_cast<std::size_t>(stage - plan_.stages.begin())].work) {
      time = std::llround(static_cast<double>(time) * factor);
    }
  }

  /// Returns the launch time of a frame's graph: measured, or the longest of the frame's stages.
  std::vector<nanoseconds> launch_times() const {
    std::vector<nanoseconds> made(frames_.size());
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      if (!from_.launches.empty()) made[i] = from_.launches[frames_[i]].length();
      for (const source_stage& stage : stages_) {
        if (!stage.issue.empty()) made[i] = std::max(made[i], stage.issue[i]);
      }
    }
    return made;
  }

  const plan& plan_;
  const run_record& from_;
  const std::string& name_;
  std::vector<std::size_t> frames_;  ///< of the source
  std::vector<source_stage> stages_;
  std::vector<nanoseconds> launch_;
};

nanoseconds median_or_0(std::vector<nanoseconds> sample) {
  return sample.empty() ? 0 : lower_median(std::move(sample));
}

/// Returns the median time from a stage's completion to its observation, over the completions that
/// the host was waiting for.
nanoseconds completion_delay_of(const run_record& from) {
  std::vector<nanoseconds> delays;
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
  return median_or_0(std::move(delays));
}

/// Returns the lower quartile of the times from what a CPU stage waited for to its start on another
/// thread; the upper ones include waits for a worker. Empty if one thread ran all stages.
std::optional<nanoseconds> wake_up_of(const run_record& from) {
  std::vector<nanoseconds> times;
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
  if (times.empty()) return std::nullopt;
  const auto quartile = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 4);
  std::ranges::nth_element(times, quartile);
  return *quartile;
}

/// Returns the median time from a launch to the start of its work, over launches on an idle device.
nanoseconds device_start_of(const run_record& from) {
  struct work {
    stamp_pair on_device;
    nanoseconds launched;
  };
  std::vector<work> all;
  for (const stage_record& stage : from.stages) {
    for (std::size_t frame = 0; frame < stage.enqueued.size(); ++frame) {
      if (stage.device.empty() || !ran(stage, frame)) continue;
      all.push_back({stage.device[frame], stage.enqueued[frame].end});
    }
  }
  std::ranges::sort(all, {}, [](const work& w) { return w.on_device.begin; });
  std::vector<nanoseconds> times;
  nanoseconds busy_until = 0;
  for (const work& w : all) {
    if (busy_until <= w.launched) {
      times.push_back(std::max<nanoseconds>(0, w.on_device.begin - w.launched));
    }
    busy_until = std::max(busy_until, w.on_device.end);
  }
  return median_or_0(std::move(times));
}

/// Draws frames for a run of `frames` frames: blocks of the source, drawn from as many blocks as
/// the source has, which are drawn from all its blocks. Blocks wrap around at the source's end.
std::vector<std::uint32_t> draw_frames(std::size_t source, std::size_t frames, std::size_t block,
                                       std::mt19937_64& random) {
  std::vector<std::size_t> firsts((source + block - 1) / block);
  for (std::size_t& first : firsts) first = random() % source;
  std::vector<std::uint32_t> drawn;
  drawn.reserve(frames);
  while (drawn.size() < frames) {
    const std::size_t first = firsts[random() % firsts.size()];
    for (std::size_t i = 0; i < block && drawn.size() < frames; ++i) {
      drawn.push_back(static_cast<std::uint32_t>((first + i) % source));
    }
  }
  return drawn;
}

/// Figures of the replicates, by name.
class figure_samples {
 public:
  void add(const run_record& record) {
    const run_summary summary = summarize(record);
    if (summary.throughput) throughput_.push_back(*summary.throughput);
    if (!summary.end_to_end || !summary.end_to_end->why_unsettled().empty()) return;
    mean_.push_back(summary.end_to_end->mean());
    for (const auto& [name, p] : shown_percentiles) {
      const auto value = summary.end_to_end->percentile(p);
      if (value) percentiles_[std::string(name)].push_back(static_cast<double>(*value));
    }
  }

  /// @param widened Factor of the distances from the median.
  std::vector<predicted_figure> intervals(double widened) const {
    std::vector<predicted_figure> made;
    const auto add = [&](const std::string& name, std::vector<double> values) {
      if (values.size() < static_cast<std::size_t>(least_replicates)) return;
      std::ranges::sort(values);
      const auto at = [&](double p) { return values[rank_of(p, values.size())]; };
      const double middle = at(0.5);
      made.push_back({name, std::max(0.0, middle + widened * (at(0.025) - middle)),
                      middle + widened * (at(0.975) - middle)});
    };
    add("mean", mean_);
    for (const auto& [name, p] : shown_percentiles) {
      const auto known = percentiles_.find(std::string(name));
      if (known != percentiles_.end()) add(known->first, known->second);
    }
    add("throughput", throughput_);
    return made;
  }

 private:
  std::vector<double> mean_;
  std::vector<double> throughput_;
  std::map<std::string, std::vector<double>> percentiles_;
};

/// Returns the number of CPU stages that can run concurrently.
int cores_for(const plan& p, const run_record& source, const prediction_options& options) {
  const int cores = options.cores.value_or(std::max(1, source.cpu_cores));
  if (p.run.workers == 0 || !has_workers(p.run)) return cores;
  const int workers = static_cast<int>(p.run.workers);
  return options.cores ? std::min(workers, cores) : workers;
}

}  // namespace

run_record predict(const plan& p, const run_record& source, const std::string& source_name,
                   const prediction_options& options) {
  const source_times times(p, source, source_name, options);
  prediction_record made;
  made.source = source_name;
  made.source_run = source.run;
  made.source_cores = source.cpu_cores;
  made.source_frames = static_cast<std::int64_t>(times.count());
  made.completion_delay = completion_delay_of(source);
  made.wake_up = wake_up_of(source).value_or(made.completion_delay);
  made.device_start = device_start_of(source);
  for (const auto& [stage, factor] : options.scale) {
    made.scaled.emplace_back(stage, fmt::format("{:g}", factor));
  }
  virtual_session session(p, {.device = source.device,
                              .cores = cores_for(p, source, options),
                              .wake_up = made.wake_up,
                              .completion_delay = made.completion_delay,
                              .device_start = made.device_start});

  std::vector<std::uint32_t> in_order(times.count());
  for (std::size_t i = 0; i < in_order.size(); ++i) in_order[i] = static_cast<std::uint32_t>(i);
  run_record record = session.run(times.replay(in_order));

  for (std::size_t stage = 0; options.sensitivity && stage < p.stages.size(); ++stage) {
    if (!times.takes_time(stage)) continue;
    const auto ends =
        distribution::of(end_to_end_times(session.run(times.replay(in_order, stage))));
    if (!ends) continue;
    made.sensitivity.push_back(
        {p.stages[stage].name, std::llround(ends->mean()), ends->median(), ends->percentile(0.95)});
  }

  const auto frames = static_cast<std::size_t>(p.run.frames);
  const double stage_runs = static_cast<double>(frames * std::max<std::size_t>(1, p.stages.size()));
  const std::int64_t wanted =
      std::clamp(static_cast<std::int64_t>(most_stage_runs / stage_runs),
                 std::min(least_replicates, options.replicates), options.replicates);
  const std::size_t block = times.block_length();
  figure_samples figures;
  while (made.replicates < wanted && (options.stop == nullptr || !options.stop->raised())) {
    std::mt19937_64 random(mix_seed(p.run.seed, static_cast<std::uint64_t>(made.replicates)));
    const auto order = draw_frames(times.count(), frames, block, random);
    figures.add(session.run(times.replay(order), random()));
    ++made.replicates;
    if (options.on_progress) options.on_progress(made.replicates, wanted);
  }
  const std::size_t blocks = std::max<std::size_t>(2, times.count() / block);
  if (source.conditions) {
    const auto disturbances = disturbances_of(*source.conditions);
    if (!disturbances.empty()) {
      record.warnings.push_back(
          fmt::format("the run that this prediction uses was disturbed ({}), so its stage times "
                      "may be too long; "
                      "measure it again on an idle machine",
                      fmt::join(disturbances, "; ")));
    }
  }
  made.figures = figures.intervals(student_t_critical(0.05, blocks - 1) / normal_critical(0.05));
  record.prediction = std::move(made);
  return record;
}

}  // namespace graphline
