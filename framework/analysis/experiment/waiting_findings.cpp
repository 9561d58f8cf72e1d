#include <fmt/format.h>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

// Less than half a core may be anything; one way of waiting differs from another by a whole one.
constexpr double busy_for_nothing = 0.5;

/// A pair seen from the side that keeps the cores busy.
struct busier_side {
  configuration_member busy;
  configuration_member idle;
  double cores = 0;  ///< more
};

std::optional<busier_side> busier_of(const finding_source& from, const compared_pair& pair) {
  const auto* what = from.summary_of(pair.what);
  const auto* reference = from.summary_of(pair.reference);
  if (what == nullptr || reference == nullptr || !what->cores || !reference->cores) return {};
  const double more = *what->cores - *reference->cores;
  if (more >= busy_for_nothing) return busier_side{pair.what, pair.reference, more};
  if (more <= -busy_for_nothing) return busier_side{pair.reference, pair.what, -more};
  return {};
}

}  // namespace

void add_waiting_findings(const finding_source& from, findings_list& to) {
  for (const auto& pair : from.record.pairs) {
    if (!from.differ_only_in(pair, "wait")) continue;
    const auto busier = busier_of(from, pair);
    if (!busier) continue;
    const auto runs = from.runs_of(busier->busy);
    if (runs.empty() || runs.front()->run.wait == wait_mode::block) continue;
    const auto gain = busier->busy == pair.what ? verdict::faster : verdict::slower;
    const comparison* p50 = find_comparison(from.summary, pair, figure::p50);
    if (p50 == nullptr || !p50->ratio_range) continue;
    bool gains = false;
    for (const auto what : {figure::p50, figure::tail, figure::throughput}) {
      const auto* found = find_comparison(from.summary, pair, what);
      gains = gains || (found != nullptr && found->verdict == gain);
    }
    if (gains) continue;
    const bool first = busier->busy == pair.what;
    to.push_back(fmt::format(
        "{} keeps {:.2f} cores more busy than {} without being {}: p50 {} against {} ({})",
        from.labels.of(busier->busy), busier->cores, from.labels.of(busier->idle),
        p50->verdict == verdict::undecided ? "shown to be faster" : "faster",
        format_duration(first ? p50->value : p50->reference),
        format_duration(first ? p50->reference : p50->value), to_word(p50->verdict)));
  }
}

}  // namespace graphline
