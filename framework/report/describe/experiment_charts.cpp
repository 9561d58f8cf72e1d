#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/run/summary.hpp"
#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

constexpr std::size_t most_steps = 400;  // of a distribution

/// "p50 60.2 ms, -18.8 % (95 % interval -19.4 to -18.1 %): faster".
std::string words_of(const comparison& of, const std::string& metric) {
  const auto in = of.figure == figure::throughput ? unit::frames_per_second : unit::duration;
  const quantity change{of.ratio - 1, unit::change};
  auto text = fmt::format("{} {}, ", metric, to_text({of.value, in}));
  if (!of.ratio_range) return text + to_text(change);
  const auto& [low, high] = *of.ratio_range;
  return text + fmt::format("{}: {}", shown_value(estimate{change, low - 1, high - 1}),
                            to_word(of.verdict));
}

std::string name_in(const experiment_view& of, figure what) {
  switch (what) {
    case figure::p50:
      return "p50";
    case figure::tail:
      return percentile_name(of.record.how.tail);
    case figure::throughput:
      break;
  }
  return "throughput";
}

}  // namespace

void add_comparisons_chart(document& to, const experiment_view& of) {
  comparisons_chart drawn{{}, of.record.how.margin};
  for (const auto what : {figure::p50, figure::tail, figure::throughput}) {
    for (const auto& found : of.summary.comparisons) {
      if (found.figure != what) continue;
      auto& made = drawn.list.emplace_back();
      made.metric = name_in(of, what);
      made.name = of.labels.of(found.pair.what);
      made.reference = of.labels.of(found.pair.reference);
      made.change = found.ratio - 1;
      if (found.ratio_range) {
        made.low = found.ratio_range->low - 1;
        made.high = found.ratio_range->high - 1;
        made.verdict = found.verdict;
      }
      made.words = words_of(found, made.metric);
    }
  }
  if (drawn.list.empty()) return;
  to.parts.push_back(chart{
      "comparisons_chart", "Comparisons",
      fmt::format("Changes against the baseline with their 95 % intervals, by bootstrap over {} "
                  "blocks; all hold together. Shaded: within {:g} %, where a whole interval means "
                  "the same.",
                  of.summary.counted_blocks, 100 * of.record.how.margin),
      std::move(drawn)});
}

void add_trials_chart(document& to, const experiment_view& of) {
  trials_chart drawn;
  const auto members = of.labels.all();
  for (const auto& who : members) drawn.names.push_back(of.labels.of(who));
  for (const auto& trial : of.record.trials) {
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      if (trial.members[m].frames.empty()) continue;
      const configuration_member who{trial.configuration, m};
      const auto place = std::ranges::find(members, who) - members.begin();
      drawn.trials.push_back({static_cast<std::size_t>(place), trial.block, trial.begun,
                              lower_median(end_to_end_times(trial.members[m]))});
    }
  }
  if (drawn.trials.size() < 2) return;
  drawn.disturbed = of.summary.machine.affected_blocks;
  to.parts.push_back(
      chart{"trials_chart", "Trials over time",
            "A mark is the median of a trial's frames against that of all trials of its "
            "configuration; lines part the blocks, each of which holds a trial of every "
            "configuration. Shaded: disturbed blocks (machine noise).",
            std::move(drawn)});
}

void add_distributions_chart(document& to, const experiment_view& of) {
  cumulative_chart drawn;
  for (const auto& who : of.labels.all()) {
    const auto& times = of.of(who).end_to_end;
    if (!times) continue;
    drawn.list.push_back(
        {of.labels.of(who), times->count(),
         cumulative_steps({times->sorted().begin(), times->sorted().end()}, most_steps)});
  }
  if (drawn.list.empty()) return;
  to.parts.push_back(chart{"distributions", "Distributions",
                           "Which part of the frames took at most so long, of all counted frames "
                           "of each configuration.",
                           std::move(drawn)});
}

}  // namespace graphline::report
