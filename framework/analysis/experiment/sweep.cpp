#include "framework/analysis/experiment/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <system_error>
#include <utility>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/analysis/run/passes.hpp"

namespace graphline {

namespace {

using run_list = std::vector<const run_record*>;

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto* const end = text.data() + text.size();
  const auto [read, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || read != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Returns true for device stages except copies, which are not bound by memory ceilings.
bool computes(const stage_record& stage) {
  return stage.on == side::device && !stage.copy;
}

/// Adds to a sum. The sum becomes unknown if a part is unknown or the sum overflows 64 bits.
void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& part) {
  if (!sum || !part || __builtin_add_overflow(*sum, *part, &*sum)) sum.reset();
}

/// Returns a cost per frame: the mean over all frames, of which some may not run the stage.
std::optional<std::int64_t> mean_cost(const stage_record& stage,
                                      std::optional<std::int64_t> cost_record::*what) {
  if (stage.rows.empty()) return stage.cost.*what;
  double sum = 0;
  for (std::size_t frame = 0; frame < stage.rows.size(); ++frame) {
    if (!ran(stage, frame)) continue;
    const auto& cost = cost_of(stage, frame).*what;
    if (!cost) return std::nullopt;
    sum += static_cast<double>(*cost);
  }
  return std::llround(sum / static_cast<double>(stage.rows.size()));
}

void add_cost(sweep_point& to, const run_record& run) {
  if (std::none_of(run.stages.begin(), run.stages.end(), computes)) return;
  to.flops = 0;
  to.bytes = 0;
  for (const auto& stage : run.stages) {
    if (!computes(stage)) continue;
    add(to.flops, mean_cost(stage, &cost_record::flops));
    add(to.bytes, mean_cost(stage, &cost_record::bytes_read));
    add(to.bytes, mean_cost(stage, &cost_record::bytes_written));
  }
  if (to.flops && to.bytes && *to.bytes > 0) {
    to.intensity = static_cast<double>(*to.flops) / static_cast<double>(*to.bytes);
  }
}

/// Returns what is measured of the device stages; empty if only their launch is measured.
std::optional<measure> measure_of_work(const std::vector<run_list>& all) {
  for (const auto& runs : all) {
    if (runs.empty()) continue;
    const auto measures = measures_of(side::device, runs.front()->run);
    const bool of_work = !measures.empty() && measures.front() != measure::enqueue_time;
    return of_work ? std::optional(measures.front()) : std::nullopt;
  }
  return std::nullopt;
}

/// Sums the times of each frame's device stages. Returns the p50 of the sums in ns.
std::optional<double> time_in_stages(const run_list& runs, measure what) {
  std::vector<nanoseconds> all;
  for (const auto* run : runs) {
    std::vector<nanoseconds> sums(run_passes(*run).size());
    for (const auto& stage : run->stages) {
      if (!computes(stage)) continue;
      const auto times = times_by_frame(stage, what);
      for (std::size_t i = 0; i < std::min(sums.size(), times.size()); ++i) sums[i] += times[i];
    }
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return p50_of(distribution::of(std::move(all)));
}

void add_roofline(sweep_point& to, const run_record& run, const calibration& known) {
  auto calibrated = run;
  calibrated.calibration = known;
  const auto roofline = evaluate_roofline(calibrated, nullptr, {});
  if (!roofline) return;
  double sum = 0;
  std::map<bound, double> by;
  for (const auto& stage : roofline->stages) {
    if (!computes(run.stages[stage.stage])) continue;
    const auto& figures = stage.figures;
    if (stage.share_of_frames == 0) continue;
    if (!figures.roofline_time) return;
    const double time = *figures.roofline_time * stage.share_of_frames;
    sum += time;
    if (figures.by) by[*figures.by] += time;
  }
  if (sum <= 0) return;
  to.roofline_time = sum;
  if (by.empty()) return;
  to.by = std::ranges::max_element(by, {}, [](auto& b) { return b.second; })->first;
}

/// Returns the only varying key if it is a parameter and each configuration has one pipeline.
std::optional<std::string> swept_key(const experiment_record& record) {
  const experiment_labels labels(record.configurations);
  if (labels.named() || labels.keys().size() != 1) return std::nullopt;
  const auto alone = [](const experiment_configuration& c) { return c.members.size() == 1; };
  if (!std::ranges::all_of(record.configurations, alone)) return std::nullopt;
  for (const auto& trial : record.trials) {
    if (trial.members.empty()) continue;
    for (const auto& [name, value] : trial.members.front().parameters) {
      if (name == labels.keys().front()) return name;
    }
  }
  return std::nullopt;
}

/// Returns the points of the values that ran, without times; empty if a value is not a number or
/// occurs twice.
std::vector<sweep_point> points_of(const experiment_record& record,
                                   const std::vector<run_list>& runs) {
  const experiment_labels labels(record.configurations);
  std::vector<sweep_point> points;
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    sweep_point point;
    point.configuration = c;
    point.text = labels.values(c).front();
    const auto value = number_of(point.text);
    if (!value) return {};
    point.value = *value;
    if (runs[c].empty()) continue;
    add_cost(point, *runs[c].front());
    points.push_back(std::move(point));
  }
  std::ranges::stable_sort(points, {}, &sweep_point::value);
  const bool twice = std::ranges::adjacent_find(points, {}, &sweep_point::value) != points.end();
  return twice ? std::vector<sweep_point>() : points;
}

}  // namespace

std::optional<sweep> sweep_of(const experiment_record& record, const experiment_summary& summary) {
  const auto key = swept_key(record);
  if (!key) return std::nullopt;
  const counted_trials counted(record, summary.machine.affected_blocks);
  std::vector<run_list> runs;
  for (std::size_t c = 0; c < record.configurations.size(); ++c) runs.push_back(counted.of({c, 0}));
  sweep result{*key, measure_of_work(runs), points_of(record, runs)};
  const auto known = [](const sweep_point& p) { return p.intensity.has_value(); };
  if (std::count_if(result.points.begin(), result.points.end(), known) <
      static_cast<std::ptrdiff_t>(least_sweep_points)) {
    return std::nullopt;
  }
  for (auto& point : result.points) {
    const auto& of = runs[point.configuration];
    const auto& whole = summary.configurations[point.configuration].members.front().end_to_end;
    point.time = result.what ? time_in_stages(of, *result.what) : p50_of(whole);
    if (point.time && *point.time <= 0) point.time.reset();
    if (point.time && point.flops) {
      point.rate = static_cast<double>(*point.flops) * 1e9 / *point.time;
    }
    if (record.calibration) add_roofline(point, *of.front(), *record.calibration);
    if (result.what && point.time && point.roofline_time)
      point.ratio = *point.time / *point.roofline_time;
  }
  return result;
}

bool changes_cost(const sweep& of) {
  return std::any_of(of.points.begin(), of.points.end(), [&](const sweep_point& point) {
    return point.flops != of.points.front().flops || point.bytes != of.points.front().bytes;
  });
}

}  // namespace graphline
