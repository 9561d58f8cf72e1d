#include "framework/analysis/run/policy_choices.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace graphline {

std::optional<finding> policy_finding(std::span<const run_record* const> runs) {
  std::size_t starts = 0;
  std::size_t decided = 0;
  std::size_t held = 0;
  std::map<std::pair<std::string, std::string>, std::size_t> changes;  // the second is overtaken
  for (const run_record* run : runs) {
    for (const stage_record& stage : run->stages) {
      for (std::size_t pass = 0; pass < stage.preferred.size(); ++pass) {
        if (!ran(stage, pass)) continue;
        ++starts;
        const std::int32_t other = preferred_in(stage, pass);
        if (other == 0) continue;
        ++decided;
        if (other == choice::held_back) {
          ++held;
          continue;
        }
        ++changes[{stage.name, other < 0 ? "a stage of another pipeline"
                                         : run->stages[static_cast<std::size_t>(other) - 1].name}];
      }
    }
  }
  if (starts == 0) return std::nullopt;
  finding made{decided > 0 ? "policy_decided" : "policy_never_decided"};
  made.with("policy", runs.front()->run.policy).with("decided", decided).with("starts", starts);
  if (held > 0) made.with("held", held);
  if (changes.empty()) return made;
  const auto most = std::ranges::max_element(changes, {}, [](const auto& c) { return c.second; });
  return made.with("first", most->first.first)
      .with("second", most->first.second)
      .with("times", most->second);
}

}  // namespace graphline
