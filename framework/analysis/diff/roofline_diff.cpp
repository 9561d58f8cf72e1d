#include "framework/analysis/diff/roofline_diff.hpp"

#include <algorithm>

namespace graphline {

namespace {

figure_change change_of(const before_after<std::optional<saved_floor>>& stages,
                        std::optional<double> saved_floor::*figure) {
  const auto value = [figure](const std::optional<saved_floor>& stage) {
    return stage ? (*stage).*figure : std::nullopt;
  };
  return {{value(stages.before), value(stages.after)}};
}

}  // namespace

figure_change floor_change::measured() const {
  return change_of(stages, &saved_floor::measured);
}

figure_change floor_change::least() const {
  return change_of(stages, &saved_floor::least);
}

figure_change floor_change::ratio() const {
  return change_of(stages, &saved_floor::ratio);
}

roofline_diff compare(const saved_roofline& before, const saved_roofline& after) {
  roofline_diff result{compare(before.origin, after.origin),
                       {},
                       {before.interrupted, after.interrupted},
                       {before.failure, after.failure}};
  for (const auto& stage : before.stages) result.stages.push_back({stage.name, {stage, {}}});
  for (const auto& stage : after.stages) {
    const auto like = std::find_if(result.stages.begin(), result.stages.end(),
                                   [&](const auto& other) { return other.name == stage.name; });
    if (like == result.stages.end()) {
      result.stages.push_back({stage.name, {{}, stage}});
    } else {
      like->stages.after = stage;
    }
  }
  return result;
}

}  // namespace graphline
