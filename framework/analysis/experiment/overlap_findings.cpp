#include <algorithm>
#include <utility>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/timing_protocol.hpp"

namespace graphline {

namespace {

/// How much of a pipeline's work ran at once, on average. All in nanoseconds per frame.
struct side_by_side {
  double overlap = 0;  ///< sum of the stages' times minus the time in which any was under way
  double stages = 0;   ///< sum of the stages' times; on `host`, those on the device as one stage
  double longest = 0;  ///< of the stages' times: the others could run beside it, at best
  double frame = 0;    ///< time a frame takes; with several in flight, the frame period
  double doubt = 0;    ///< how far stamps of device and CPU may be off each other
};

/// The stretches in which at least one of them is under way.
std::vector<stamp_pair> merged(std::vector<stamp_pair> spans) {
  std::ranges::sort(spans, {}, &stamp_pair::begin);
  std::vector<stamp_pair> result;
  for (const auto& span : spans) {
    if (result.empty() || span.begin > result.back().end) {
      result.push_back(span);
    } else {
      result.back().end = std::max(result.back().end, span.end);
    }
  }
  return result;
}

double total(const std::vector<stamp_pair>& spans) {
  nanoseconds sum = 0;
  for (const auto& span : spans) sum += span.length();
  return static_cast<double>(sum);
}

/// Adds what the stages of a run did. On a device that carries out one operation at a time one of
/// two stages whose stamps cross has waited for the other: all of them count as one.
void add_stages(side_by_side& to, const run_record& run) {
  std::vector<stamp_pair> all;
  std::vector<stamp_pair> in_turn;
  double longest = 0;
  const auto add = [&](const std::vector<stamp_pair>& of_one) {
    longest = std::max(longest, total(of_one));
    all.insert(all.end(), of_one.begin(), of_one.end());
  };
  for (const auto& stage : run.stages) {
    if (stage.on == side::device && run.device.one_at_a_time) {
      in_turn.insert(in_turn.end(), stage.device.begin(), stage.device.end());
    } else {
      add(stage.on == side::device ? stage.device : stage.cpu);
    }
  }
  add(merged(std::move(in_turn)));
  to.stages += total(all);
  to.longest += longest;
  to.overlap += total(all) - total(merged(all));
}

/// By the stamps of stages on the device and on the CPU, which stand on one clock under `event` and
/// `layers`.
side_by_side side_by_side_of(const std::vector<const run_record*>& runs) {
  side_by_side all;
  double frames = 0;
  for (const auto* run : runs) {
    const auto count = static_cast<double>(run->frames.size());
    add_stages(all, *run);
    frames += count;
    all.doubt = std::max(all.doubt, static_cast<double>(run->clock_error));
    if (run->run.in_flight > 1) {
      all.frame += frame_period(*run).value_or(0) * count;
    } else {
      for (const auto& one : run->frames) all.frame += static_cast<double>(one.end - one.begin);
    }
  }
  for (double* sum : {&all.overlap, &all.stages, &all.longest, &all.frame}) *sum /= frames;
  return all;
}

}  // namespace

void add_overlap_findings(const finding_source& from, std::vector<finding>& to) {
  // An overlap of less than this part of a frame is none that anybody would look for.
  constexpr double noticeable = 0.02;
  grouped_findings together;
  grouped_findings apart;
  for (const auto& who : from.labels.all()) {
    const auto runs = from.runs_of(who);
    if (runs.empty()) continue;
    const auto& run = runs.front()->run;
    const schedule_properties schedule = properties_of(run);
    if (!traits_of(run.timing).tells_spans || schedule.waits_each) continue;
    const auto found = side_by_side_of(runs);
    if (found.frame <= 0) continue;
    const char* const frame = run.in_flight > 1 ? "period" : "frame";
    // Device and CPU stamps may be off each other at either end of a stage.
    const double least = std::max(noticeable * found.frame, 2 * found.doubt);
    if (found.overlap >= least) {
      together.add(finding{"overlap_of"}
                       .with("overlap", found.overlap, unit::duration)
                       .with(frame, found.frame, unit::duration),
                   who);
    } else if (!schedule.in_order && found.stages - found.longest >= 2 * least) {
      apart.add(finding{"stages_in_a_row"}
                    .with("stages", found.stages, unit::duration)
                    .with(frame, found.frame, unit::duration),
                who);
    }
  }
  together.add_as_cases({"ran_concurrently"}, from.labels, to);
  apart.add_as_cases({"no_overlap"}, from.labels, to);
}

}  // namespace graphline
