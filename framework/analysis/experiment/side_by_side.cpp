#include "framework/analysis/experiment/side_by_side.hpp"

#include <algorithm>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

namespace {

/// The stages that have stamps, one for each frame.
std::vector<const stage_record*> timed_stages(const run_record& run) {
  std::vector<const stage_record*> stages;
  for (const auto& stage : run.stages) {
    const auto& stamps = stage.on == side::device ? stage.device : stage.cpu;
    if (!stamps.empty() && stamps.size() == run.frames.size()) stages.push_back(&stage);
  }
  return stages;
}

/// The stretches in which at least one of them is under way.
std::vector<stamp_pair> merged(std::vector<stamp_pair> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
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

nanoseconds total(const std::vector<stamp_pair>& spans) {
  nanoseconds sum = 0;
  for (const auto& span : spans) sum += span.length();
  return sum;
}

/// What stages did in some frames of a run, and what the one that took longest did.
struct work {
  std::vector<stamp_pair> spans;
  nanoseconds longest = 0;

  void add(const std::vector<stamp_pair>& of_one) {
    longest = std::max(longest, total(of_one));
    spans.insert(spans.end(), of_one.begin(), of_one.end());
  }
};

work work_of(const run_record& run, std::size_t first_frame, std::size_t frames) {
  // On a device that carries out one operation at a time one of two stages whose stamps cross has
  // waited for the other. All of them count as one.
  const bool one_at_a_time = run.device.one_at_a_time;
  work result;
  std::vector<stamp_pair> in_turn;
  for (const auto* stage : timed_stages(run)) {
    const bool on_device = stage->on == side::device;
    const auto& stamps = on_device ? stage->device : stage->cpu;
    const auto begin = stamps.begin() + static_cast<std::ptrdiff_t>(first_frame);
    const std::vector<stamp_pair> of_stage(begin, begin + static_cast<std::ptrdiff_t>(frames));
    if (on_device && one_at_a_time) {
      in_turn.insert(in_turn.end(), of_stage.begin(), of_stage.end());
    } else {
      result.add(of_stage);
    }
  }
  if (!in_turn.empty()) result.add(merged(std::move(in_turn)));
  return result;
}

/// One value of each column for each frame, or for each run.
struct samples {
  std::vector<double> overlap;
  std::vector<double> stages;
  std::vector<double> longest;
  std::vector<double> frame;

  void add(const work& done, double frame_time, double frames) {
    const auto sum = total(done.spans);
    overlap.push_back(static_cast<double>(sum - total(merged(done.spans))) / frames);
    stages.push_back(static_cast<double>(sum) / frames);
    longest.push_back(static_cast<double>(done.longest) / frames);
    frame.push_back(frame_time);
  }
};

void add_frames(samples& to, const run_record& run) {
  for (std::size_t i = 0; i < run.frames.size(); ++i) {
    to.add(work_of(run, i, 1), static_cast<double>(run.frames[i].end - run.frames[i].begin), 1);
  }
}

void add_run(samples& to, const run_record& run) {
  const auto period = frame_period(run);
  if (!period) return;
  to.add(work_of(run, 0, run.frames.size()), *period, static_cast<double>(run.frames.size()));
}

}  // namespace

std::optional<side_by_side> side_by_side_of(const std::vector<const run_record*>& runs) {
  samples all;
  nanoseconds doubt = 0;
  for (const auto* run : runs) {
    if (timed_stages(*run).size() < 2) continue;
    doubt = std::max(doubt, run->clock_error);
    if (run->run.in_flight > 1) {
      add_run(all, *run);
    } else {
      add_frames(all, *run);
    }
  }
  if (all.frame.empty()) return std::nullopt;
  return side_by_side{median_of(all.overlap), median_of(all.stages), median_of(all.longest),
                      median_of(all.frame), static_cast<double>(doubt)};
}

}  // namespace graphline
