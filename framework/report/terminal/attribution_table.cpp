#include "framework/report/terminal/attribution_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;
constexpr double least_share = 0.01;
constexpr std::size_t goes_to_width = 14;  // names what a row is as much as the stage does

/// Whether a row takes so little in every column that it need not stand alone.
bool is_small(const attribution_row& row, const attribution_summary& summary) {
  const auto little = [](double part, double whole) { return part < least_share * whole; };
  return little(row.all, summary.end_to_end.all) &&
         little(row.typical, summary.end_to_end.typical) &&
         little(row.slowest, summary.end_to_end.slowest);
}

/// Too few frames for a median have none that are typical, to set the slowest against.
bool has_groups(const run_record& record) {
  return record.frames.size() >= samples_needed(0.5);
}

std::vector<text_table::column> columns_of(const time_unit& unit, bool groups) {
  std::vector<text_table::column> columns = {
      {fmt::format("stage ({})", unit.name), left, least_name}, {"goes to", left, goes_to_width}};
  if (groups) {
    columns.insert(
        columns.end(),
        {{"mean", number, 0, 2}, {"typical"}, {"slowest"}, {"more"}, {"more %", number, 0, 1}});
  } else {
    columns.push_back({"mean"});
  }
  return columns;
}

class attribution_rows {
 public:
  attribution_rows(const attribution_summary& summary, bool groups, const look& as)
      : unit_(unit_for(summary.end_to_end.all)),
        groups_(groups),
        table_(columns_of(unit_, groups)),
        whole_more_(summary.end_to_end.slowest - summary.end_to_end.typical),
        least_more_(least_share * summary.end_to_end.typical),
        as_(as) {}

  void add(std::string name, std::string_view what, double all, double typical, double slowest) {
    if (!groups_) {
      table_.add_row({std::move(name), std::string(what), in_unit(all, unit_)});
      return;
    }
    const double more = slowest - typical;
    // Where slow frames are hardly slower there is nothing to take parts of.
    const bool parts = whole_more_ > least_more_;
    table_.add_row({std::move(name), std::string(what), in_unit(all, unit_),
                    in_unit(typical, unit_), in_unit(slowest, unit_),
                    signed_digits(more / unit_.nanoseconds, 3),
                    parts ? signed_digits(100 * more / whole_more_, 0) : "-"});
  }

  std::string text() const { return table_.text(as_); }

 private:
  time_unit unit_;
  bool groups_;
  text_table table_;
  double whole_more_;
  double least_more_;
  const look& as_;
};

std::string table_of(const run_record& record, const attribution_summary& summary, const look& as) {
  attribution_rows rows(summary, has_groups(record), as);
  attribution_row others;
  std::size_t merged = 0;
  const auto small = std::count_if(summary.rows.begin(), summary.rows.end(),
                                   [&](const auto& row) { return is_small(row, summary); });
  for (const auto& row : summary.rows) {
    if (small > 1 && is_small(row, summary)) {
      others.all += row.all;
      others.typical += row.typical;
      others.slowest += row.slowest;
      ++merged;
      continue;
    }
    rows.add(row.stage ? table_name(record.stages[*row.stage].name, as.room(28)) : "the frame",
             in_words(row.what), row.all, row.typical, row.slowest);
  }
  if (merged > 0) {
    rows.add(fmt::format("{} others", merged), "under 1 % each", others.all, others.typical,
             others.slowest);
  }
  const auto& whole = summary.end_to_end;
  rows.add(summary.why_no_queue.empty() ? "end to end" : "begin to end", "", whole.all,
           whole.typical, whole.slowest);
  return rows.text();
}

std::string notes(const run_record& record, const attribution_summary& summary, const look& as) {
  const auto count = [](const std::vector<std::size_t>& frames) {
    return counted(static_cast<std::int64_t>(frames.size()), "frame");
  };
  std::string text;
  if (!summary.why_no_queue.empty()) {
    text += paragraph("without queue wait: " + summary.why_no_queue, 2, as, tone::faint);
  }
  if (has_groups(record)) {
    text += paragraph(
        fmt::format("typical: the {} around the median; slowest: 1 %, {}; more: slowest beyond "
                    "typical",
                    count(summary.typical_frames), count(summary.slowest_frames)),
        2, as, tone::faint);
  }
  if (summary.largest_residual != 0) {
    text += paragraph(
        fmt::format("residual: rows overlap by up to {} in a frame, where the clocks disagree",
                    format_duration(static_cast<double>(summary.largest_residual))),
        2, as, tone::faint);
  }
  return text;
}

}  // namespace

std::string attribution_table(const run_record& record, const attribution_summary& summary,
                              const look& as) {
  auto text = toned("where the time of a frame goes", tone::heading, as) + "\n";
  text += table_of(record, summary, as) + notes(record, summary, as);
  for (const auto& finding : attribution_findings(record, summary)) {
    text += paragraph("- " + printable(finding), 2, as);
  }
  return text;
}

}  // namespace graphline
