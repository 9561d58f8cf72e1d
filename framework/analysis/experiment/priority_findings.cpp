#include <fmt/format.h>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

/// A comparison, seen from the side with priorities.
struct priority_effect {
  configuration_member with;
  figure what = figure::p50;
  double value = 0;    ///< nanoseconds, with priorities
  double without = 0;  ///< nanoseconds
  double ratio = 1;    ///< value / without
  std::optional<interval> range;
  graphline::verdict verdict = graphline::verdict::undecided;
};

verdict seen_from_other_side(verdict what) {
  if (what == verdict::faster) return verdict::slower;
  if (what == verdict::slower) return verdict::faster;
  return what;
}

priority_effect effect_of(const comparison& found, bool what_has_them) {
  priority_effect effect{found.pair.what, found.figure,      found.value,  found.reference,
                         found.ratio,     found.ratio_range, found.verdict};
  if (what_has_them) return effect;
  effect.with = found.pair.reference;
  std::swap(effect.value, effect.without);
  effect.ratio = 1 / found.ratio;
  if (found.ratio_range) {
    effect.range = interval{1 / found.ratio_range->high, 1 / found.ratio_range->low};
  }
  effect.verdict = seen_from_other_side(found.verdict);
  return effect;
}

bool decided(const comparison* found) {
  return found != nullptr &&
         (found->verdict == verdict::faster || found->verdict == verdict::slower);
}

/// The p50, unless only the tail shows an effect.
const comparison* telling(const experiment_summary& summary, const compared_pair& pair) {
  const auto* p50 = find_comparison(summary, pair, figure::p50);
  const auto* tail = find_comparison(summary, pair, figure::tail);
  return !decided(p50) && decided(tail) ? tail : p50;
}

std::string text_of(const finding_source& from, const priority_effect& effect,
                    const device_properties& device) {
  const auto name = from.labels.of(effect.with);
  const auto figures =
      fmt::format("{} {} with them, {} without ({})",
                  effect.what == figure::p50 ? "p50" : percentile_name(from.record.how.tail),
                  format_duration(effect.value), format_duration(effect.without),
                  change_in_words(effect.ratio, effect.range));
  const std::string_view reason =
      device.priority_levels < 2 ? "; the device has one level only" : "";
  switch (effect.verdict) {
    case verdict::faster:
    case verdict::slower:
      return fmt::format("priorities took effect, {} is {}: {}", name, to_word(effect.verdict),
                         figures);
    case verdict::same:
      return fmt::format("priorities changed nothing for {}: {}{}", name, figures, reason);
    case verdict::undecided:
      break;
  }
  return fmt::format("no effect of priorities is visible for {}: {}, undecided{}", name, figures,
                     reason);
}

}  // namespace

void add_priority_findings(const finding_source& from, findings_list& to) {
  for (const auto& pair : from.record.pairs) {
    const bool both_at_once = from.several_at_once(pair.what.configuration) &&
                              from.several_at_once(pair.reference.configuration);
    if (!both_at_once && !from.differ_only_in(pair, "priorities")) continue;
    const auto what = from.runs_of(pair.what);
    const auto reference = from.runs_of(pair.reference);
    if (what.empty() || reference.empty()) continue;
    const bool with = what.front()->run.priorities;
    if (with == reference.front()->run.priorities) continue;
    const auto* found = telling(from.summary, pair);
    if (found == nullptr || !found->ratio_range) continue;
    to.push_back(text_of(from, effect_of(*found, with), what.front()->device));
  }
}

}  // namespace graphline
