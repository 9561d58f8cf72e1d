#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "framework/analysis/comparison_text.hpp"
#include "framework/report/terminal/experiment_parts.hpp"

namespace graphline {

namespace {

template <class Predicate>
bool any_member(const experiment_summary& summary, Predicate holds) {
  return std::any_of(summary.configurations.begin(), summary.configurations.end(),
                     [&](const configuration_summary& configuration) {
                       return std::any_of(configuration.members.begin(),
                                          configuration.members.end(), holds);
                     });
}

std::string missing_percentiles(const experiment_record& record, const experiment_summary& summary,
                                const look& as) {
  std::string missing;
  const auto add = [&](double p) {
    missing += fmt::format("{}{} needs {}", missing.empty() ? "" : ", ", percentile_name(p),
                           samples_needed(p));
  };
  for (const auto p : {0.5, record.how.tail}) {
    const auto lacks = [p](const member_summary& m) {
      return m.end_to_end && !m.end_to_end->percentile(p);
    };
    if (any_member(summary, lacks)) add(p);
  }
  return missing.empty() ? "" : paragraph("-: too few frames: " + missing, 2, as, tone::faint);
}

std::string comparison_notes(const experiment_record& record, const experiment_summary& summary,
                             const look& as) {
  const auto has_interval = [](const comparison& c) { return c.ratio_range.has_value(); };
  const bool intervals =
      std::any_of(summary.comparisons.begin(), summary.comparisons.end(), has_interval);
  std::string text;
  if (intervals) {
    text += paragraph(
        fmt::format("change: against the baseline; intervals by bootstrap over {} blocks, all of "
                    "which hold together with 95 %",
                    summary.counted_blocks),
        2, as, tone::faint);
    text += paragraph(
        fmt::format("verdict: same where the whole interval is within {:g} %, undecided where the "
                    "blocks do not tell",
                    100 * record.how.margin),
        2, as, tone::faint);
  }
  if (std::any_of(summary.comparisons.begin(), summary.comparisons.end(), [](const comparison& c) {
        return c.figure == figure::p50 && c.ratio_range && c.more_trials;
      })) {
    text += paragraph("more: about so many further trials of each configuration would decide", 2,
                      as, tone::faint);
  }
  return text;
}

std::string timing_notes(const experiment_record& record, const look& as) {
  std::set<timing_method> methods;
  for (const auto& trial : record.trials) {
    for (const auto& run : trial.members) methods.insert(run.run.timing);
  }
  std::string text;
  for (const auto method : methods) {
    text += paragraph(fmt::format("timing {}: {}", to_word(method), meaning_of(method)), 2, as,
                      tone::faint);
  }
  return text;
}

}  // namespace

std::string experiment_notes(const experiment_record& record, const experiment_summary& summary,
                             bool shapes, const look& as) {
  auto text = missing_percentiles(record, summary, as) + comparison_notes(record, summary, as);
  if (shapes) {
    text += paragraph(
        "shape: how often which end-to-end times occurred, the shortest left, all rows on one "
        "scale; < and >: a few lie far beyond",
        2, as, tone::faint);
  }
  text +=
      paragraph("figures: of all frames of a configuration's trials together", 2, as, tone::faint);
  if (any_member(summary, [](const member_summary& m) { return m.between_trials.has_value(); })) {
    text += paragraph("spread: between trials, standard deviation of their medians", 2, as,
                      tone::faint);
  }
  if (any_member(summary, [](const member_summary& m) { return m.cores.has_value(); })) {
    text += paragraph("cores: busy on average while frames ran, by the whole process", 2, as,
                      tone::faint);
  }
  return text + timing_notes(record, as);
}

}  // namespace graphline
