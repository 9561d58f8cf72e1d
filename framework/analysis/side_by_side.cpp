#include "framework/analysis/side_by_side.hpp"

#include <algorithm>

#include "framework/analysis/median_interval.hpp"

namespace graphline {

namespace {

/// The stamps of every stage that has them, one for each frame.
std::vector<const std::vector<stamp_pair>*> timed_stages(const run_record& run) {
  std::vector<const std::vector<stamp_pair>*> stages;
  for (const auto& stage : run.stages) {
    const auto& stamps = stage.on == side::device ? stage.device : stage.cpu;
    if (!stamps.empty() && stamps.size() == run.frames.size()) stages.push_back(&stamps);
  }
  return stages;
}

/// The time in which at least one of them is under way.
nanoseconds covered(std::vector<stamp_pair> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  nanoseconds total = 0;
  nanoseconds reached = spans.front().begin;
  for (const auto& span : spans) {
    if (span.end <= reached) continue;
    total += span.end - std::max(span.begin, reached);
    reached = span.end;
  }
  return total;
}

/// One value of each column for each frame, or for each run.
struct samples {
  std::vector<double> overlap;
  std::vector<double> stages;
  std::vector<double> longest;
  std::vector<double> frame;

  void add(const std::vector<stamp_pair>& spans, nanoseconds longest_stage, nanoseconds time,
           double frames) {
    nanoseconds sum = 0;
    for (const auto& span : spans) sum += span.length();
    overlap.push_back(static_cast<double>(sum - covered(spans)) / frames);
    stages.push_back(static_cast<double>(sum) / frames);
    longest.push_back(static_cast<double>(longest_stage) / frames);
    frame.push_back(static_cast<double>(time) / frames);
  }
};

void add_frames(samples& to, const run_record& run) {
  const auto stages = timed_stages(run);
  for (std::size_t i = 0; i < run.frames.size(); ++i) {
    std::vector<stamp_pair> spans;
    nanoseconds longest = 0;
    for (const auto* stage : stages) {
      spans.push_back((*stage)[i]);
      longest = std::max(longest, spans.back().length());
    }
    to.add(spans, longest, run.frames[i].end - run.frames[i].begin, 1);
  }
}

void add_run(samples& to, const run_record& run) {
  std::vector<stamp_pair> spans;
  nanoseconds longest = 0;
  for (const auto* stage : timed_stages(run)) {
    nanoseconds sum = 0;
    for (const auto& stamp : *stage) sum += stamp.length();
    longest = std::max(longest, sum);
    spans.insert(spans.end(), stage->begin(), stage->end());
  }
  nanoseconds end = run.frames.front().end;
  for (const auto& frame : run.frames) end = std::max(end, frame.end);
  to.add(spans, longest, end - run.frames.front().begin, static_cast<double>(run.frames.size()));
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
