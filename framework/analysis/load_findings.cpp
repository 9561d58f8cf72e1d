#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/finding_parts.hpp"
#include "framework/analysis/median_interval.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

/// How fast frames were due and how fast they were done, in frames a second; medians over trials.
struct carried_load {
  double due = 0;
  double done = 0;
};

/// Between the first and the last, so that how long a frame takes does not count.
std::optional<double> rate_between(nanoseconds first, nanoseconds last, std::size_t count) {
  if (count < 2 || last <= first) return std::nullopt;
  return static_cast<double>(count - 1) * 1e9 / static_cast<double>(last - first);
}

std::optional<carried_load> load_of(const std::vector<const run_record*>& runs) {
  std::vector<double> due;
  std::vector<double> done;
  for (const auto* run : runs) {
    std::vector<nanoseconds> dues = run->load.dropped;
    std::vector<nanoseconds> ends;
    for (const auto& frame : run->frames) {
      dues.push_back(frame.due);
      ends.push_back(frame.end);
    }
    const auto [first_due, last_due] = std::minmax_element(dues.begin(), dues.end());
    const auto [first_end, last_end] = std::minmax_element(ends.begin(), ends.end());
    const auto offered = rate_between(*first_due, *last_due, dues.size());
    const auto carried = rate_between(*first_end, *last_end, ends.size());
    if (!offered || !carried) continue;
    due.push_back(*offered);
    done.push_back(*carried);
  }
  if (due.empty()) return std::nullopt;
  return carried_load{median_of(due), median_of(done)};
}

bool is_open(const std::vector<const run_record*>& runs) {
  return !runs.empty() && runs.front()->run.arrival != arrival::closed;
}

/// Whether frames were due before there was room for them, nine of ten in the second half: what is
/// kept up with runs out of work now and then, however late the last frame happened to be.
bool never_caught_up(const run_record& run) {
  constexpr double nearly_all = 0.9;
  const auto depth = static_cast<std::size_t>(std::max<std::int64_t>(run.run.in_flight, 1));
  const auto& frames = run.frames;
  std::size_t waited = 0;
  std::size_t count = 0;
  for (std::size_t i = std::max(frames.size() / 2, depth); i < frames.size(); ++i, ++count) {
    if (frames[i - depth].end > frames[i].due) ++waited;
  }
  return count > 0 && static_cast<double>(waited) >= nearly_all * static_cast<double>(count);
}

std::string as_rate(double frames_a_second) {
  return fmt::format("{:.3g}", frames_a_second);
}

void add_rates(const finding_source& from, findings_list& to) {
  // Frames that are done at the pace at which they are due lag behind by chance only.
  constexpr double keeps_up = 0.98;
  std::vector<std::string> items;
  for (const auto& who : from.labels.all()) {
    const auto runs = from.runs_of(who);
    if (!is_open(runs)) continue;
    const auto load = load_of(runs);
    if (!load || load->done >= keeps_up * load->due) continue;
    const auto behind = std::count_if(runs.begin(), runs.end(),
                                      [](const auto* run) { return never_caught_up(*run); });
    if (2 * static_cast<std::size_t>(behind) <= runs.size()) continue;
    items.push_back(fmt::format("{} of {} frame/s with {}", as_rate(load->done), as_rate(load->due),
                                from.labels.of(who)));
  }
  if (!items.empty()) {
    to.push_back("more frames are due than can be carried: done were " + listed(items));
  }
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

void add_load_findings(const finding_source& from, findings_list& to) {
  add_rates(from, to);
  add_drops(from, to);
  add_full_queues(from, to);
  add_late_frames(from, to);
}

}  // namespace graphline
