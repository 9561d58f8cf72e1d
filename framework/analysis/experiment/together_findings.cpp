#include <fmt/format.h>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

/// "batch", "batch and log": who else runs in a configuration.
std::string others_of(const experiment_record& record, const configuration_member& what) {
  const auto& members = record.configurations[what.configuration].members;
  std::vector<std::string> names;
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (m != what.member) names.push_back(members[m]);
  }
  return listed(names);
}

}  // namespace

void add_together_findings(const finding_source& from, findings_list& to) {
  for (const auto& pair : from.record.pairs) {
    if (!from.several_at_once(pair.what.configuration)) continue;
    if (from.several_at_once(pair.reference.configuration)) continue;
    const auto* found = find_comparison(from.summary, pair, figure::p50);
    if (found == nullptr) continue;
    const auto& members = from.record.configurations[pair.what.configuration].members;
    to.push_back(fmt::format("{}: p50 {} alone, {} beside {} ({})", members[pair.what.member],
                             format_duration(found->reference), format_duration(found->value),
                             others_of(from.record, pair.what),
                             change_in_words(found->ratio, found->ratio_range)));
  }
}

}  // namespace graphline
