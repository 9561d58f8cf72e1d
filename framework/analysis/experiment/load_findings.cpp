#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/analysis/run/overload.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

bool is_open(const std::vector<const run_record*>& runs) {
  return !runs.empty() && runs.front()->run.arrival != arrival::closed;
}

void add_drops(const finding_source& from, findings_list& to) {
  std::vector<std::string> items;
  for (const auto& who : from.labels.all()) {
    const auto* summary = from.summary_of(who);
    if (summary == nullptr || summary->dropped == 0) continue;
    items.push_back(
        fmt::format("{} of {} with {}", summary->dropped, summary->due, from.labels.of(who)));
  }
  if (items.empty()) return;
  to.push_back("frames dropped by a full queue, so that no percentile counts them: " +
               listed(items));
}

void add_full_queues(const finding_source& from, findings_list& to) {
  std::vector<std::string> items;
  for (const auto& who : from.labels.all()) {
    const auto runs = from.runs_of(who);
    if (!is_open(runs)) continue;
    std::int64_t found_full = 0;
    std::size_t due = 0;
    std::size_t dropped = 0;
    for (const auto* run : runs) {
      dropped += run->load.dropped.size();
      found_full += run->load.found_full;
      due += run->frames.size() + run->load.dropped.size();
    }
    // Where a full queue drops, these are the dropped ones once more.
    if (found_full <= static_cast<std::int64_t>(dropped)) continue;
    items.push_back(fmt::format("{} of {} with {}", found_full, due, from.labels.of(who)));
  }
  if (!items.empty()) to.push_back("frames that found the queue full: " + listed(items));
}

void add_late_frames(const finding_source& from, findings_list& to) {
  std::vector<std::string> items;
  for (const auto& who : from.labels.all()) {
    const auto* summary = from.summary_of(who);
    if (summary == nullptr || !summary->deadline || !summary->end_to_end) continue;
    const auto& deadline = *summary->deadline;
    if (deadline.missed == 0 || !deadline.median_late) continue;
    items.push_back(fmt::format(
        "{} of {} by {} with {}", deadline.missed, summary->end_to_end->count(),
        format_duration(static_cast<double>(*deadline.median_late)), from.labels.of(who)));
  }
  if (!items.empty())
    to.push_back("frames that missed their deadline, and by how much (median): " + listed(items));
}

}  // namespace

/// Of those of which more than half of the runs were overloaded; rates are medians over these.
void add_overload_findings(const finding_source& from, findings_list& to) {
  std::vector<std::string> items;
  for (const auto& who : from.labels.all()) {
    const auto runs = from.runs_of(who);
    std::vector<double> offered;
    std::vector<double> completed;
    for (const auto* run : runs) {
      const auto found = overload_of(*run);
      if (!found) continue;
      offered.push_back(found->offered);
      completed.push_back(found->completed);
    }
    if (2 * offered.size() <= runs.size()) continue;
    items.push_back(rates_text(median_of(completed), median_of(offered)) + " with " +
                    from.labels.of(who));
  }
  if (!items.empty()) to.push_back("overloaded: completed " + listed(items));
}

void add_load_findings(const finding_source& from, findings_list& to) {
  add_drops(from, to);
  add_full_queues(from, to);
  add_late_frames(from, to);
}

}  // namespace graphline
