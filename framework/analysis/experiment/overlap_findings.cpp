#include <algorithm>
#include <optional>
#include <utility>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/run/frame_period.hpp"

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

/// Adds what the stages of a run did. On a device that carries out one operation at a time one of
/// two stages whose stamps cross has waited for the other: all of them count as one.
void add_run(side_by_side& to, const run_record& run) {
  std::vector<stamp_pair> all;
  nanoseconds longest = 0;
  const auto add = [&](const std::vector<stamp_pair>& of_one) {
    longest = std::max(longest, total(of_one));
    all.insert(all.end(), of_one.begin(), of_one.end());
  };
  std::vector<stamp_pair> in_turn;
  for (const auto* stage : timed_stages(run)) {
    if (stage->on == side::device && run.device.one_at_a_time) {
      in_turn.insert(in_turn.end(), stage->device.begin(), stage->device.end());
    } else {
      add(stage->on == side::device ? stage->device : stage->cpu);
    }
  }
  if (!in_turn.empty()) add(merged(std::move(in_turn)));
  const auto sum = total(all);
  to.stages += static_cast<double>(sum);
  to.longest += static_cast<double>(longest);
  to.overlap += static_cast<double>(sum - total(merged(std::move(all))));
  to.doubt = std::max(to.doubt, static_cast<double>(run.clock_error));
}

/// By the stamps of stages on the device and on the CPU, which stand on one clock. Nothing where
/// fewer than two stages have stamps, as under timing methods other than `event` and `layers`.
std::optional<side_by_side> side_by_side_of(const std::vector<const run_record*>& runs) {
  side_by_side all;
  double frames = 0;
  for (const auto* run : runs) {
    const auto count = static_cast<double>(run->frames.size());
    const auto period = frame_period(*run);
    if (timed_stages(*run).size() < 2 || !period) continue;
    add_run(all, *run);
    frames += count;
    if (run->run.in_flight > 1) {
      all.frame += *period * count;
    } else {
      for (const auto& one : run->frames) all.frame += static_cast<double>(one.end - one.begin);
    }
  }
  if (frames == 0) return std::nullopt;
  for (double* sum : {&all.overlap, &all.stages, &all.longest, &all.frame}) *sum /= frames;
  return all;
}

// An overlap of less than this part of a frame is none that anybody would look for.
constexpr double noticeable = 0.02;

struct overlap_of_one {
  configuration_member who;
  const run_record* example = nullptr;
  side_by_side found;

  bool in_a_pipeline() const { return example->run.in_flight > 1; }

  /// Whether what the other did is something that this one could have done: the same pipeline, with
  /// one frame in flight or several as here.
  bool is_like(const overlap_of_one& other, const experiment_record& record) const {
    const auto name = [&](const configuration_member& of) {
      return record.configurations[of.configuration].members[of.member];
    };
    return name(who) == name(other.who) && in_a_pipeline() == other.in_a_pipeline();
  }

  // Device and CPU stamps may be off each other at either end of a stage.
  double least() const { return std::max(noticeable * found.frame, 2 * found.doubt); }
  bool happened() const { return found.overlap >= least(); }

  /// Whether there was work to lay side by side, and clocks good enough to see that it was not.
  bool could_be_seen() const {
    return 2 * found.doubt <= noticeable * found.frame &&
           found.stages - found.longest >= 2 * noticeable * found.frame;
  }

  /// Whether frames in flight were to keep the CPU and the device busy at once.
  bool promised() const {
    const auto on = [&](side where) {
      return std::any_of(example->stages.begin(), example->stages.end(),
                         [&](const stage_record& stage) { return stage.on == where; });
    };
    return example->run.strategy == strategy::overlap && example->run.in_flight > 1 &&
           on(side::cpu) && on(side::device);
  }
};

std::vector<overlap_of_one> overlaps(const finding_source& from) {
  std::vector<overlap_of_one> result;
  for (const auto& who : from.labels.all()) {
    const auto runs = from.runs_of(who);
    if (runs.empty()) continue;
    const auto& run = runs.front()->run;
    const bool on_one_clock =
        run.timing == timing_method::event || run.timing == timing_method::layers;
    if (!on_one_clock || run.strategy == strategy::serial) continue;
    if (const auto found = side_by_side_of(runs)) result.push_back({who, runs.front(), *found});
  }
  return result;
}

finding case_of(const overlap_of_one& one, std::string_view key) {
  const bool happened = key == "overlap_of";
  return finding{key}
      .with(happened ? "overlap" : "stages", happened ? one.found.overlap : one.found.stages,
            unit::duration)
      .with(one.in_a_pipeline() ? "period" : "frame", one.found.frame, unit::duration);
}

}  // namespace

void add_overlap_findings(const finding_source& from, std::vector<finding>& to) {
  const auto all = overlaps(from);
  grouped_findings together;
  grouped_findings apart;
  for (const auto& one : all) {
    if (one.happened()) {
      together.add(case_of(one, "overlap_of"), one.who);
      continue;
    }
    const bool shown_elsewhere = std::ranges::any_of(all, [&](const auto& other) {
      return other.happened() && one.is_like(other, from.record);
    });
    if (!one.could_be_seen() || !(shown_elsewhere || one.promised())) continue;
    apart.add(case_of(one, "stages_in_a_row"), one.who);
  }
  together.add_as_cases({"ran_concurrently"}, from.labels, to);
  apart.add_as_cases({"no_overlap"}, from.labels, to);
}

}  // namespace graphline
