#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/attribution_summary.hpp"
#include "framework/analysis/times_words.hpp"
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
        return "untimed";
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
      return fmt::format("untimed before {}", name);
  }
}

/// What makes up most of the difference between slow frames and typical ones.
std::string made_of(const run_record& record, const attribution_summary& summary, double more) {
  std::vector<attribution_row> rows = summary.rows;
  const auto growth = [](const attribution_row& row) { return row.slowest - row.typical; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return growth(a) > growth(b); });
  constexpr std::size_t most_named = 3;
  constexpr double enough = 0.8;
  constexpr double worth_a_word = 0.1;
  std::string text;
  double explained = 0;
  for (std::size_t i = 0; i < std::min(rows.size(), most_named); ++i) {
    const double part = growth(rows[i]);
    if (part < worth_a_word * more || explained >= enough * more) break;
    explained += part;
    text +=
        fmt::format("{}{} ({:.0f} %) {}{}", text.empty() ? "" : ", ", format_duration(part),
                    100 * part / more, text.empty() ? "of it is " : "", described(record, rows[i]));
  }
  return text;
}

/// Where one thing has grown as much as the frames have, or more while others shrank.
std::string grown_alone(const run_record& record, const attribution_summary& summary, double more) {
  const auto most = std::max_element(
      summary.rows.begin(), summary.rows.end(),
      [](const auto& a, const auto& b) { return a.slowest - a.typical < b.slowest - b.typical; });
  constexpr double rounds_to_all = 0.995;
  if (most == summary.rows.end()) return {};
  if (most->slowest - most->typical < rounds_to_all * more) return {};
  return fmt::format("all of it is {}", described(record, *most));
}

void add_slow_frames(const run_record& record, const attribution_summary& summary,
                     std::vector<std::string>& to) {
  if (record.frames.size() < least_frames) return;
  const double more = summary.end_to_end.slowest - summary.end_to_end.typical;
  const auto doubt = 2 * static_cast<double>(record.clock_error);
  if (more < std::max(noticeable * summary.end_to_end.typical, doubt)) return;
  auto reasons = grown_alone(record, summary, more);
  if (reasons.empty()) reasons = made_of(record, summary, more);
  if (reasons.empty()) reasons = "a little of everything";
  const auto count = summary.slowest_frames.size();
  to.push_back(fmt::format("the slowest 1 % ({} frame{}) took {} more than a typical one: {}",
                           count, count == 1 ? "" : "s", format_duration(more), reasons));
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

void add_best_possible(const run_record& record, const attribution_summary& summary,
                       std::vector<std::string>& to) {
  if (record.stages.size() < 2 || !summary.best_by_plan || !summary.best_by_edges) return;
  if (*summary.best_by_plan <= 0 || summary.critical.empty()) return;
  const auto by_plan = format_duration(*summary.best_by_plan);
  const auto by_edges = format_duration(*summary.best_by_edges);
  const auto best = by_plan == by_edges ? by_plan
                                        : fmt::format("{} by the plan and {} by the edges alone",
                                                      by_plan, by_edges);
  // No stage makes a frame wait for its begin, and the best possible does not know of it.
  const bool queued = record.run.arrival != arrival::closed;
  to.push_back(
      fmt::format("bound by {}; on average the best possible with these stage times is {}: a frame "
                  "took {}{}, {}{}",
                  path_text(record, summary.critical), best, format_duration(summary.running),
                  queued ? " without its queue wait" : "",
                  times_words(summary.running / *summary.best_by_plan) + " as long",
                  by_plan == by_edges ? "" : " as by the plan"));
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
  to.push_back(
      fmt::format("overlap moved {} a frame off the path{}", format_duration(moved), what));
}

}  // namespace

std::vector<std::string> attribution_findings(const run_record& record,
                                              const attribution_summary& summary) {
  std::vector<std::string> result;
  if (record.frames.empty()) return result;
  add_slow_frames(record, summary, result);
  add_best_possible(record, summary, result);
  add_overlap(record, summary, result);
  return result;
}

}  // namespace graphline
