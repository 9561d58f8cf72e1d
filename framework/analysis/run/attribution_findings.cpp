#include <algorithm>

#include "framework/analysis/run/attribution_summary.hpp"

namespace graphline {

namespace {

// Less than this part of a frame is nothing that anybody would look for.
constexpr double noticeable = 0.02;

// Below this the slowest frame is one of a few, not one of those that are slow now and then.
constexpr std::size_t least_frames = 20;

// Of what the frames took more: less than this part of it is nothing that needs saying.
constexpr double worth_a_word = 0.1;

quantity time_of(double ns) {
  return {ns, unit::duration};
}

double growth(const attribution_row& row) {
  return row.slowest - row.typical;
}

/// "device time", "queue wait".
std::string name_of(time_category what) {
  const bool is_wait = what != time_category::cpu && what != time_category::device &&
                       what != time_category::copy && what != time_category::launch;
  return in_words(what) + (is_wait ? "" : " time");
}

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

void add_slow_frames(const run_record& record, const attribution_summary& summary,
                     std::vector<finding>& to) {
  constexpr double rounds_to_more = 1.005;
  if (record.frames.size() < least_frames) return;
  const double more = summary.end_to_end.slowest - summary.end_to_end.typical;
  const auto doubt = 2 * static_cast<double>(record.clock_error);
  if (more < std::max(noticeable * summary.end_to_end.typical, doubt)) return;
  std::vector<finding_item> items;
  double named = 0;
  for (const auto& row : grown_most(summary, more)) {
    named += growth(row);
    items.push_back({name_of(row.what), row.stage ? record.stages[*row.stage].name : "",
                     time_of(growth(row)), growth(row) / more});
  }
  auto found = finding{"slow_frames"}
                   .with("frames", summary.slowest_frames.size())
                   .with("more", time_of(more));
  if (!items.empty()) found.with("pieces", std::move(items));
  if (named > rounds_to_more * more) found.with("others_less", time_of(named - more));
  to.push_back(std::move(found));
}

/// The stages that make the bound are the subjects.
void add_lower_bound(const run_record& record, const attribution_summary& summary,
                     std::vector<finding>& to) {
  if (record.stages.size() < 2 || !summary.bound || !summary.bound_of_any) return;
  const auto& median = summary.bound_of_median;
  if (*summary.bound <= 0 || median.stages.empty()) return;
  finding found{to_word(median.by)};
  for (const auto stage : median.stages) found.subjects.push_back(record.stages[stage].name);
  if (median.by == limited_by::cpu_cores) {
    const int cores = record.run.graphs == graph_mode::frame ? 1 : record.cpu_cores;
    found.with("cores", cores);
  }
  const bool one_bound =
      to_text(time_of(*summary.bound)) == to_text(time_of(*summary.bound_of_any));
  found.with(one_bound ? "bound" : "bound_of_schedule", time_of(*summary.bound));
  if (!one_bound) found.with("bound_of_any", time_of(*summary.bound_of_any));
  found.with("running", time_of(summary.running));
  // The bound is of the stages, which do not see a frame wait for its begin.
  if (record.run.arrival != arrival::closed) found.with("without", std::string("queue wait"));
  const double above = summary.running / *summary.bound;
  if (above < 2) {
    found.with("above", quantity{std::max(0.0, above - 1), unit::share});
  } else {
    found.with("ratio", quantity{above, unit::ratio});
  }
  to.push_back(std::move(found));
}

void add_overlap(const run_record& record, const attribution_summary& summary,
                 std::vector<finding>& to) {
  double hidden = 0;
  for (const auto& stage : summary.stages) hidden += stage.off_path;
  // Stamps of the device and of the host may be off each other at either end of a stage.
  const auto doubt = 2 * static_cast<double>(record.clock_error);
  if (hidden <= 0 || hidden < std::max(noticeable * summary.running, doubt)) return;
  std::vector<std::size_t> by_share;
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    if (summary.stages[s].off_path >= worth_a_word * hidden) by_share.push_back(s);
  }
  std::stable_sort(by_share.begin(), by_share.end(), [&](std::size_t a, std::size_t b) {
    return summary.stages[a].off_path > summary.stages[b].off_path;
  });
  std::vector<finding_item> items;
  for (const std::size_t s : by_share) {
    const auto& [on, off, share] = summary.stages[s];
    items.push_back({"", record.stages[s].name, time_of(off), off / (on + off)});
  }
  to.push_back(
      finding{"overlap_hid"}.with("hidden", time_of(hidden)).with("pieces", std::move(items)));
}

}  // namespace

std::vector<finding> attribution_findings(const run_record& record,
                                          const attribution_summary& summary) {
  std::vector<finding> result;
  if (record.frames.empty()) return result;
  add_slow_frames(record, summary, result);
  add_lower_bound(record, summary, result);
  add_overlap(record, summary, result);
  return result;
}

}  // namespace graphline
