#include "framework/plan/planned_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

struct chain_stage {
  std::size_t member = 0;
  std::size_t stage = 0;
};

std::vector<std::string> stage_names(const planned_configuration& in) {
  std::vector<std::string> names;
  for (std::size_t m = 0; m < in.members.size(); ++m) {
    for (const planned_stage& stage : in.members[m].stages) {
      names.push_back(in.what.members[m] + '.' + stage.name);
    }
  }
  return names;
}

/// Returns the stage of a name MEMBER.STAGE; empty after an error, also of the member's plan.
std::optional<chain_stage> find_stage(const named& name, const planned_configuration& in,
                                      diagnostics& out) {
  for (std::size_t m = 0; m < in.members.size(); ++m) {
    const std::string prefix = in.what.members[m] + '.';
    if (!name.text.starts_with(prefix)) continue;
    const auto& stages = in.members[m].stages;
    if (in.members[m].reach.empty()) return std::nullopt;
    const auto found =
        std::ranges::find(stages, name.text.substr(prefix.size()), &planned_stage::name);
    if (found != stages.end()) {
      return chain_stage{m, static_cast<std::size_t>(found - stages.begin())};
    }
  }
  const std::vector<std::string> known = stage_names(in);
  out.error(name.place, fmt::format("{} is not a stage MEMBER.STAGE of 'together'{}",
                                    quote(name.text), suggestion(name.text, known, known.size())));
  return std::nullopt;
}

}  // namespace

std::vector<chain_record> planned_chains(const std::vector<chain_spec>& chains,
                                         const planned_configuration& in, diagnostics& out) {
  std::vector<chain_record> result;
  for (const chain_spec& chain : chains) {
    chain_record& made = result.emplace_back();
    made.name = chain.name.text;
    made.age = chain.age;
    made.reaction = chain.reaction;
    std::optional<chain_stage> before;
    for (const named& name : chain.stages) {
      const auto found = find_stage(name, in, out);
      if (!found) break;
      const plan& member = in.members[found->member];
      if (before && before->member == found->member && !member.reach[before->stage][found->stage]) {
        out.error(name.place,
                  fmt::format("{} does not wait for {}, so no result of that stage "
                              "reaches it in a frame; name stages of one member in the "
                              "order of a path",
                              quote(name.text), quote(member.stages[before->stage].name)));
      }
      made.stages.emplace_back(in.what.members[found->member], member.stages[found->stage].name);
      before = found;
    }
  }
  return result;
}

}  // namespace graphline
