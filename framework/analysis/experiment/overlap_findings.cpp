#include <algorithm>
#include <map>
#include <utility>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/timing_protocol.hpp"

namespace graphline {

namespace {

/// Concurrency of a pipeline's stages, in ns per frame.
struct side_by_side {
  double overlap = 0;  ///< sum of stage times minus the time in which any stage was active
  double stages = 0;   ///< sum of stage times; those that run one at a time count as one
  double longest = 0;  ///< longest stage; all other stages could run during it
  double frame = 0;    ///< frame time or, with several in flight, frame period
  double doubt = 0;    ///< maximum error between device and CPU stamps
};

double total(const std::vector<stamp_pair>& spans) {
  nanoseconds sum = 0;
  for (const auto& span : spans) sum += span.length();
  return static_cast<double>(sum);
}

/// Adds the stages of a run. On a device that executes one operation at a time, overlapping spans
/// include waits for other stages, so all stages of this device count as one, and so do all CPU
/// stages of one worker.
void add_stages(side_by_side& to, const run_record& run) {
  std::vector<stamp_pair> all;
  std::map<std::size_t, std::vector<stamp_pair>> in_turn;  // by device
  std::vector<stamp_pair> on_worker;
  double longest = 0;
  const bool one_worker = run.run.workers == 1 || run.cpu_cores == 1;
  const auto add = [&](const std::vector<stamp_pair>& of_one) {
    longest = std::max(longest, total(of_one));
    all.insert(all.end(), of_one.begin(), of_one.end());
  };
  for (const auto& stage : run.stages) {
    const bool device = stage.on == side::device;
    const auto& stamps = device ? stage.device : stage.cpu;
    if (device ? device_of(run, stage).one_at_a_time : one_worker) {
      auto& one = device ? in_turn[stage.device_index] : on_worker;
      one.insert(one.end(), stamps.begin(), stamps.end());
    } else {
      add(stamps);
    }
  }
  for (auto& [device, spans] : in_turn) add(merged(std::move(spans)));
  add(merged(std::move(on_worker)));
  to.stages += total(all);
  to.longest += longest;
  to.overlap += total(all) - total(merged(all));
}

/// Returns means over all frames or, with `batch_frames`, over all batches.
side_by_side side_by_side_of(const std::vector<const run_record*>& runs) {
  side_by_side all;
  double frames = 0;
  for (const auto* run : runs) {
    const run_passes passes(*run);
    add_stages(all, *run);
    frames += static_cast<double>(passes.size());
    all.doubt = std::max(all.doubt, static_cast<double>(run->clock_error));
    if (run->run.in_flight > 1) {
      all.frame += frame_period(*run).value_or(0) * static_cast<double>(run->frames.size());
    } else {
      for (std::size_t pass = 0; pass < passes.size(); ++pass) {
        all.frame += static_cast<double>(passes[pass].end - passes[pass].begin);
      }
    }
  }
  for (double* sum : {&all.overlap, &all.stages, &all.longest, &all.frame}) *sum /= frames;
  return all;
}

}  // namespace

void add_overlap_findings(const finding_source& from, std::vector<finding>& to) {
  // Smallest reported overlap, as a fraction of the frame.
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
    // Device and CPU stamps can disagree at both ends of a stage.
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
