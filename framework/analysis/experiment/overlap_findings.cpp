#include <algorithm>

#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/analysis/experiment/side_by_side.hpp"

namespace graphline {

namespace {

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

/// Every figure, or, of more than a person would read, the least and the most.
void add_concurrent(const finding_source& from, const std::vector<overlap_of_one>& together,
                    std::vector<finding>& to) {
  constexpr std::size_t most_figures = 4;
  grouped_findings cases;
  for (const auto& one : together) cases.add(case_of(one, "overlap_of"), one.who);
  if (cases.size() <= most_figures) {
    cases.add_as_cases({"ran_concurrently"}, from.labels, to);
    return;
  }
  const auto [least, most] =
      std::ranges::minmax(together, {}, [](const auto& one) { return one.found.overlap; });
  grouped_findings ends;
  for (const auto& one : {least, most}) ends.add(case_of(one, "overlap_of"), one.who);
  ends.add_as_cases({"ran_concurrently_least_and_most"}, from.labels, to);
}

}  // namespace

void add_overlap_findings(const finding_source& from, std::vector<finding>& to) {
  const auto all = overlaps(from);
  std::vector<overlap_of_one> together;
  for (const auto& one : all) {
    if (one.happened()) together.push_back(one);
  }
  grouped_findings apart;
  for (const auto& one : all) {
    const bool shown_elsewhere = std::ranges::any_of(
        together, [&](const auto& other) { return one.is_like(other, from.record); });
    if (one.happened() || !one.could_be_seen() || !(shown_elsewhere || one.promised())) continue;
    apart.add(case_of(one, "stages_in_a_row"), one.who);
  }
  add_concurrent(from, together, to);
  apart.add_as_cases({"no_overlap"}, from.labels, to);
}

}  // namespace graphline
