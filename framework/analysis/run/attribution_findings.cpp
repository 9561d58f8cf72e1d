#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

// Less than this part of a frame is nothing that anybody would look for.
constexpr double noticeable = 0.02;

// Below this the slowest frame is one of a few, not one of those that are slow now and then.
constexpr std::size_t least_frames = 20;

std::string described(const run_record& record, const attribution_row& row) {
  if (!row.stage) {
    switch (row.what) {
      case spent::queue_wait:
        return "the queue wait";
      case spent::launch:
        return "the launch of the frame's graph";
      case spent::unnoticed:
        return "unnoticed time at the frame's end";
      case spent::untimed:
        return "untimed time";
      default:
        return "the thread wait at the frame's end";
    }
  }
  const auto name = quote(record.stages[*row.stage].name);
  switch (row.what) {
    case spent::cpu:
      return name + " on the CPU";
    case spent::device:
      return name + " on the device";
    case spent::copy:
      return fmt::format("the copy {}", name);
    case spent::launch:
      return fmt::format("the launch of {}", name);
    case spent::stream_wait:
      return fmt::format("the stream wait of {}", name);
    case spent::thread_wait:
      return fmt::format("the thread wait of {}", name);
    case spent::turn_wait:
      return fmt::format("the turn wait of {}", name);
    case spent::unnoticed:
      return fmt::format("unnoticed time before {}", name);
    default:
      return fmt::format("untimed time before {}", name);
  }
}

double growth(const attribution_row& row) {
  return row.slowest - row.typical;
}

// Of what the frames took more: less than this part of it is nothing that needs saying.
constexpr double worth_a_word = 0.1;

/// What makes up most of what grew between typical frames and slow ones, the most first. Others may
/// have shrunk, so that these take more than the frames do.
std::vector<attribution_row> grown_most(const attribution_summary& summary, double more) {
  constexpr std::size_t most_named = 3;
  constexpr double enough = 0.8;
  std::vector<attribution_row> rows = summary.rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return growth(a) > growth(b); });
  double grown = 0;
  for (const auto& row : rows) grown += std::max(0.0, growth(row));
  std::size_t named = 0;
  for (double sum = 0; named < std::min(rows.size(), most_named) && sum < enough * grown; ++named) {
    if (growth(rows[named]) < worth_a_word * more) break;
    sum += growth(rows[named]);
  }
  rows.resize(named);
  return rows;
}

/// "all of it is the queue wait", "6.00 ms (60 %) of it is the queue wait, 3.00 ms (30 %) 'net' on
/// the device", "'net' on the device took 9.00 ms more; other pieces together took 2.00 ms less".
std::string reasons_text(const run_record& record, const attribution_summary& summary,
                         double more) {
  constexpr double rounds_to_all = 0.995;
  constexpr double about_all = 1.05;
  constexpr double rounds_to_more = 1.005;
  const auto rows = grown_most(summary, more);
  double named = 0;
  for (const auto& row : rows) named += growth(row);
  if (rows.empty()) return "a little of everything";
  const auto grown = std::count_if(summary.rows.begin(), summary.rows.end(), [&](const auto& row) {
    return growth(row) >= worth_a_word * more;
  });
  if (grown == 1 && named >= rounds_to_all * more && named <= about_all * more) {
    return "all of it is " + described(record, rows.front());
  }
  const bool beyond = named > rounds_to_more * more;
  std::string text;
  for (const auto& row : rows) {
    const auto time = format_duration(growth(row));
    const auto what = described(record, row);
    if (!text.empty()) text += ", ";
    if (beyond) {
      text += fmt::format("{} {}{} more", what, text.empty() ? "took " : "", time);
    } else {
      text += fmt::format("{} ({:.0f} %) {}{}", time, 100 * growth(row) / more,
                          text.empty() ? "of it is " : "", what);
    }
  }
  if (!beyond) return text;
  return text + fmt::format("; other pieces together took {} less", format_duration(named - more));
}

void add_slow_frames(const run_record& record, const attribution_summary& summary,
                     std::vector<std::string>& to) {
  if (record.frames.size() < least_frames) return;
  const double more = summary.end_to_end.slowest - summary.end_to_end.typical;
  const auto doubt = 2 * static_cast<double>(record.clock_error);
  if (more < std::max(noticeable * summary.end_to_end.typical, doubt)) return;
  const auto count = summary.slowest_frames.size();
  to.push_back(fmt::format("the slowest 1 % ({} frame{}) took {} more than a typical one: {}",
                           count, count == 1 ? "" : "s", format_duration(more),
                           reasons_text(record, summary, more)));
}

/// "'a' -> 'b'"; of a long path its ends.
std::string path_text(const run_record& record, const std::vector<std::size_t>& path) {
  constexpr std::size_t most_named = 8;
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool cut =
        path.size() > most_named + 1 && i >= most_named / 2 && i + most_named / 2 < path.size();
    if (cut) {
      if (i == most_named / 2) text += fmt::format(" -> {} more", path.size() - most_named);
      continue;
    }
    text += (i == 0 ? "" : " -> ") + quote(record.stages[path[i]].name);
  }
  return text;
}

/// What makes the bound: "critical path 'a' -> 'b'", "2 cores for the CPU stages 'a', 'b', 'c'".
std::string limit_text(const run_record& record, const lower_bound& bound) {
  if (bound.by == limited_by::critical_path) {
    return "critical path " + path_text(record, bound.stages);
  }
  constexpr std::size_t most_named = 6;
  std::string names;
  for (std::size_t i = 0; i < std::min(bound.stages.size(), most_named); ++i) {
    names += (i == 0 ? "" : ", ") + quote(record.stages[bound.stages[i]].name);
  }
  if (bound.stages.size() > most_named) {
    names += fmt::format(" and {} more", bound.stages.size() - most_named);
  }
  if (bound.by == limited_by::device) {
    return "limited by the device, which carries out one operation at a time: " + names;
  }
  const int cores = record.run.graphs == graph_mode::frame ? 1 : record.cpu_cores;
  return fmt::format("limited by the {} for CPU stages: {}",
                     cores == 1 ? "one core" : fmt::format("{} cores", cores), names);
}

/// "5.2 % above the bound", "3.1 times the bound".
std::string above_bound(double ratio) {
  if (ratio >= 2) return fmt::format("{:.3g} times the bound", ratio);
  return fmt::format("{:.2g} % above the bound", std::max(0.0, 100 * (ratio - 1)));
}

void add_lower_bound(const run_record& record, const attribution_summary& summary,
                     std::vector<std::string>& to) {
  if (record.stages.size() < 2 || !summary.bound || !summary.bound_of_any) return;
  if (*summary.bound <= 0 || summary.bound_of_median.stages.empty()) return;
  const auto here = format_duration(*summary.bound);
  const auto anywhere = format_duration(*summary.bound_of_any);
  // The bound is of the stages, which do not see a frame wait for its begin.
  const bool queued = record.run.arrival != arrival::closed;
  to.push_back(fmt::format(
      "{}; mean lower bound with these stage times {}: a frame took {}{}, {}",
      limit_text(record, summary.bound_of_median),
      here == anywhere ? here : fmt::format("{} for this schedule, {} for any", here, anywhere),
      format_duration(summary.running), queued ? " without its queue wait" : "",
      above_bound(summary.running / *summary.bound)));
}

void add_overlap(const run_record& record, const attribution_summary& summary,
                 std::vector<std::string>& to) {
  double moved = 0;
  for (const auto& stage : summary.stages) moved += stage.off_path;
  // Stamps of the device and of the host may be off each other at either end of a stage.
  const auto doubt = 2 * static_cast<double>(record.clock_error);
  if (moved <= 0 || moved < std::max(noticeable * summary.running, doubt)) return;
  std::vector<std::size_t> by_share;
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    if (summary.stages[s].off_path >= 0.1 * moved) by_share.push_back(s);
  }
  std::stable_sort(by_share.begin(), by_share.end(), [&](std::size_t a, std::size_t b) {
    return summary.stages[a].off_path > summary.stages[b].off_path;
  });
  std::string what;
  for (const std::size_t s : by_share) {
    const auto& stage = summary.stages[s];
    const double whole = stage.on_path + stage.off_path;
    what += what.empty() ? ": " : ", ";
    what += stage.off_path >= 0.995 * whole
                ? "all of " + quote(record.stages[s].name)
                : fmt::format("{:.0f} % of {}", 100 * stage.off_path / whole,
                              quote(record.stages[s].name));
  }
  to.push_back(fmt::format("overlap hid {} per frame{}", format_duration(moved), what));
}

}  // namespace

std::vector<std::string> attribution_findings(const run_record& record,
                                              const attribution_summary& summary) {
  std::vector<std::string> result;
  if (record.frames.empty()) return result;
  add_slow_frames(record, summary, result);
  add_lower_bound(record, summary, result);
  add_overlap(record, summary, result);
  return result;
}

}  // namespace graphline
