#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/analysis/experiment/side_by_side.hpp"
#include "framework/base/units.hpp"

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

/// Every figure, or, of more than a person would read, the least and the most.
std::string side_by_side_text(const finding_source& from,
                              const std::vector<overlap_of_one>& together) {
  constexpr std::size_t most_figures = 4;
  const auto figure = [](const overlap_of_one& one) {
    return fmt::format("{} of {}{}", format_duration(one.found.overlap),
                       format_duration(one.found.frame),
                       one.in_a_pipeline() ? " frame period" : "");
  };
  grouped_texts figures;
  for (const auto& one : together) figures.add(figure(one), one.who);
  std::vector<std::string> items;
  for (const auto& [text, who] : figures.all()) {
    items.push_back(fmt::format("{} {}", text, from.labels.where(who)));
  }
  if (items.size() <= most_figures) {
    return "of each frame, stages ran concurrently for " + listed(items);
  }
  const auto [least, most] = std::minmax_element(
      together.begin(), together.end(),
      [](const auto& a, const auto& b) { return a.found.overlap < b.found.overlap; });
  return fmt::format(
      "of each frame, stages ran concurrently for {} with {} at least, {} with {} at most",
      figure(*least), from.labels.of(least->who), figure(*most), from.labels.of(most->who));
}

}  // namespace

void add_overlap_findings(const finding_source& from, findings_list& to) {
  const auto all = overlaps(from);
  std::vector<overlap_of_one> together;
  grouped_texts apart;
  for (const auto& one : all) {
    if (one.happened()) together.push_back(one);
  }
  for (const auto& one : all) {
    const bool shown_elsewhere =
        std::any_of(together.begin(), together.end(),
                    [&](const overlap_of_one& other) { return one.is_like(other, from.record); });
    if (one.happened() || !one.could_be_seen() || !(shown_elsewhere || one.promised())) continue;
    apart.add(fmt::format("stages add up to {}, {} {}", format_duration(one.found.stages),
                          one.in_a_pipeline() ? "a frame is done every" : "a frame takes",
                          format_duration(one.found.frame)),
              one.who);
  }
  if (!together.empty()) to.push_back(side_by_side_text(from, together));
  std::vector<std::string> items;
  for (const auto& [text, who] : apart.all()) {
    items.push_back(fmt::format("{} ({})", from.labels.where(who), text));
  }
  if (!items.empty()) to.push_back("overlap did not happen " + listed(items));
}

}  // namespace graphline
