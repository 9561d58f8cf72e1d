#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/analysis/experiment/sweep.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/report/terminal/experiment_parts.hpp"
#include "framework/report/terminal/experiment_sentences.hpp"
#include "framework/report/terminal/sweep_table.hpp"

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

std::string missing_figures(const experiment_record& record, const experiment_summary& summary) {
  std::string missing;
  const auto add = [&](const std::string& what, std::size_t needed) {
    missing += fmt::format("{}{} needs {}", missing.empty() ? "" : ", ", what, needed);
  };
  for (const auto p : {0.5, record.how.tail}) {
    const auto lacks = [p](const member_summary& m) {
      return m.end_to_end && !m.end_to_end->percentile(p);
    };
    if (any_member(summary, lacks)) add(percentile_name(p), samples_needed(p));
  }
  const auto has_few = [](const trial_record& trial) {
    return std::any_of(trial.members.begin(), trial.members.end(), [](const run_record& run) {
      return is_scheduled(run.run) && !run.frames.empty() &&
             run.frames.size() < least_scheduled_frames;
    });
  };
  const auto lacks_throughput = [](const member_summary& m) {
    return m.end_to_end && !m.throughput;
  };
  if (any_member(summary, lacks_throughput) &&
      std::any_of(record.trials.begin(), record.trials.end(), has_few)) {
    add("throughput in each trial on a schedule", least_scheduled_frames);
  }
  return missing.empty() ? "" : "- or left out, with too few frames: " + missing;
}

void add_comparison_notes(const experiment_record& record, const experiment_summary& summary,
                          std::vector<std::string>& to) {
  const auto has_interval = [](const comparison& c) { return c.ratio_range.has_value(); };
  const bool intervals =
      std::any_of(summary.comparisons.begin(), summary.comparisons.end(), has_interval);
  if (intervals) {
    to.push_back(
        fmt::format("change: against the baseline; intervals by bootstrap over {} blocks, all of "
                    "which hold together with 95 %",
                    summary.counted_blocks));
    to.push_back(
        fmt::format("verdict: same where the whole interval is within {:g} %, undecided where the "
                    "blocks do not tell",
                    100 * record.how.margin));
  }
  if (std::any_of(summary.comparisons.begin(), summary.comparisons.end(), [](const comparison& c) {
        return c.figure == figure::p50 && c.ratio_range && c.more_trials;
      })) {
    to.push_back("more: about so many further trials of each configuration would decide");
  }
}

void add_timing_notes(const experiment_record& record, std::vector<std::string>& to) {
  std::set<timing_method> methods;
  for (const auto& trial : record.trials) {
    for (const auto& run : trial.members) methods.insert(run.run.timing);
  }
  for (const auto method : methods) {
    to.push_back(fmt::format("timing {}: {}", to_word(method), meaning_of(method)));
  }
}

}  // namespace

std::vector<std::string> note_lines(const experiment_record& record,
                                    const experiment_summary& summary) {
  std::vector<std::string> lines;
  if (auto missing = missing_figures(record, summary); !missing.empty()) {
    lines.push_back(std::move(missing));
  }
  add_comparison_notes(record, summary, lines);
  lines.push_back("figures: of all frames of a configuration's trials together");
  if (any_member(summary, [](const member_summary& m) { return m.between_trials.has_value(); })) {
    lines.push_back("spread: between trials, standard deviation of their medians");
  }
  if (any_member(summary, [](const member_summary& m) { return m.cores.has_value(); })) {
    lines.push_back("cores: busy on average while frames ran, by the whole process");
  }
  if (const auto swept = sweep_of(record, summary)) {
    for (auto& note : sweep_notes(*swept)) lines.push_back(std::move(note));
  }
  add_timing_notes(record, lines);
  return lines;
}

std::string experiment_notes(const experiment_record& record, const experiment_summary& summary,
                             bool shapes, const look& as) {
  auto lines = note_lines(record, summary);
  if (shapes) {
    lines.push_back(
        "shape: how often which end-to-end times occurred, the shortest left, all rows on one "
        "scale; < and >: a few lie far beyond");
  }
  std::string text;
  for (const auto& line : lines) text += paragraph(line, 2, as, tone::faint);
  return text;
}

}  // namespace graphline
