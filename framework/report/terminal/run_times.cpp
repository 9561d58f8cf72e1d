#include "framework/report/terminal/run_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/quantity.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/shape.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;
constexpr int shape_rank = 1;  // of the extra columns, the last to go

std::optional<double> as_double(const std::optional<nanoseconds>& ns) {
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

/// A figure of a sample, in nanoseconds.
using figure_of = std::function<std::optional<double>(const distribution&)>;

figure_of percentile_figure(double p) {
  return [p](const distribution& d) { return as_double(d.percentile(p)); };
}

/// The unit of the table, unless all of a column is so much smaller that nothing would be left of
/// its figures, or so much larger that they would be numbers of many digits.
time_unit unit_beside(time_unit unit, double largest_ns) {
  const double shown = largest_ns / unit.nanoseconds;
  const bool suits = largest_ns == 0 || (shown >= 0.01 && shown < 10'000);
  return suits ? unit : unit_for(largest_ns);
}

std::string heading_in(std::string_view name, time_unit unit, time_unit of_table) {
  if (unit.name == of_table.name) return std::string(name);
  return fmt::format("{} {}", name, unit.name);
}

/// A row of ends of the intervals, below the percentiles.
std::vector<std::string> interval_row(std::string name, const std::vector<time_unit>& units,
                                      std::size_t first, std::span<const percentile_interval> all,
                                      std::optional<nanoseconds> percentile_interval::*end) {
  std::vector<std::string> cells(units.size());
  cells.front() = std::move(name);
  for (std::size_t i = 0; i < all.size(); ++i) {
    cells[first + i] = in_unit(as_double(all[i].*end), units[first + i]);
  }
  return cells;
}

bool end_to_end_table(run_times& into, const run_analysis& analysis, const look& as) {
  const auto& times = *analysis.summary.end_to_end;
  const auto unit = unit_for(times.mean());  // not the largest: one outlier would blur the rest
  std::vector<text_table::column> columns = {{fmt::format("end to end ({})", unit.name), left}};
  std::vector<std::string> cells = {""};
  std::vector<time_unit> units = {unit};
  const auto add = [&](std::string_view name, std::optional<double> ns) {
    const auto own = unit_beside(unit, ns.value_or(0));
    units.push_back(own);
    columns.push_back({heading_in(name, own, unit)});
    cells.push_back(in_unit(ns, own));
  };
  const bool settled = times.why_unsettled().empty();
  add("mean", settled ? std::optional(times.mean()) : std::nullopt);
  add("stddev", settled ? times.stddev() : std::nullopt);
  add("min", static_cast<double>(times.min()));
  const std::size_t first = cells.size();
  for (const auto& [name, p] : percentiles_of_table(times)) {
    add(name, as_double(times.percentile(p)));
  }
  add("max", static_cast<double>(times.max()));
  const auto shapes = shapes_of({&times}, scale::own, as);
  if (!shapes.empty()) {
    columns.push_back({"shape", left, 0, shape_rank, true});
    cells.push_back(shapes.front());
    units.push_back(unit);
  }
  text_table table(std::move(columns));
  table.add_row(std::move(cells));
  if (const auto& all = analysis.intervals; !all.empty()) {
    table.add_row(interval_row("95 % from", units, first, all, &percentile_interval::low));
    table.add_row(interval_row("to", units, first, all, &percentile_interval::high));
  }
  into.text += table.text(as) + "\n";
  return table.has_extra(as);
}

/// The rows of the table of stages: those that have been timed.
class stage_times {
 public:
  stage_times(const run_record& record, const run_summary& summary, const floors& held)
      : has_floors_(held.any_stage()) {
    for (std::size_t i = 0; i < summary.stages.size(); ++i) {
      const auto& stage = summary.stages[i];
      if (stage.columns.empty() || !stage.columns.front().times) continue;
      rows_.push_back({&record.stages[i], &stage, held.of_stage(i)});
      most_mean_ = std::max(most_mean_, times(rows_.back()).mean());
      if (const auto* launch = launch_of(rows_.back())) {
        most_launch_ = std::max(most_launch_, launch->mean());
      }
    }
    unit_ = unit_for(most_mean_);
  }

  /// `into.shapes` is set where it has any.
  void add_table(run_times& into, const look& as) const {
    std::vector<text_table::column> columns = {
        {fmt::format("stage ({})", unit_.name), left, least_name}, {"time is", left, 0, 3}};
    std::vector<std::vector<std::string>> cells(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      cells[i] = {table_name(rows_[i].record->name, as.room(28)),
                  std::string(short_name(rows_[i].summary->columns.front().what))};
    }
    for (const auto& figure : figures()) {
      if (figure.extra && (as.width <= 80 || !any_has(figure))) continue;
      add(columns, cells, figure);
    }
    columns.push_back({"share %", number, 0, 1});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto share = rows_[i].summary->share;
      cells[i].push_back(share ? three_digits(100 * *share, 2) : "-");
    }
    if (has_floors_) add_floors(columns, cells);
    if (most_launch_ > 0) add_launches(columns, cells);
    const auto bars = shapes(as);
    if (!bars.empty()) columns.push_back({"shape", left, 0, shape_rank, true});
    text_table table(std::move(columns));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!bars.empty()) cells[i].push_back(bars[i]);
      table.add_row(std::move(cells[i]));
    }
    into.text += table.text(as) + "\n";
    // The last of all extra ones to go.
    if (!bars.empty() && table.has_extra(as)) into.shapes = true;
  }

 private:
  struct row {
    const stage_record* record;
    const stage_summary* summary;
    const roofline_metrics* held;  ///< null without a floor
  };
  struct shown_figure {
    std::string_view name;
    figure_of figure;
    int expendable = 0;
    bool extra = false;
  };

  static std::vector<shown_figure> figures() {
    return {{"mean", [](const distribution& d) { return std::optional(d.mean()); }},
            {"stddev", [](const distribution& d) { return d.stddev(); }, 6},
            {"p50", percentile_figure(0.5)},
            {"p90", percentile_figure(0.9), 5},
            {"p95", percentile_figure(0.95), 3, true},
            {"p99", percentile_figure(0.99), 2, true},
            {"max", [](const distribution& d) { return as_double(d.max()); }, 2}};
  }

  bool any_has(const shown_figure& shown) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const row& of) { return shown.figure(times(of)).has_value(); });
  }

  static const distribution& times(const row& of) { return *of.summary->columns.front().times; }

  static const distribution* launch_of(const row& of) {
    const auto& columns = of.summary->columns;
    return columns.size() > 1 && columns[1].times ? &*columns[1].times : nullptr;
  }

  void add(std::vector<text_table::column>& columns, std::vector<std::vector<std::string>>& cells,
           const shown_figure& shown) const {
    double most = 0;
    for (const auto& of : rows_) most = std::max(most, shown.figure(times(of)).value_or(0));
    const auto unit = unit_beside(unit_, most);
    columns.push_back(
        {heading_in(shown.name, unit, unit_), number, 0, shown.expendable, shown.extra});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      cells[i].push_back(in_unit(shown.figure(times(rows_[i])), unit));
    }
  }

  void add_launches(std::vector<text_table::column>& columns,
                    std::vector<std::vector<std::string>>& cells) const {
    const auto unit = unit_for(most_launch_);
    columns.push_back({fmt::format("enqueue {}", unit.name), number, 0, 4});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto* launch = launch_of(rows_[i]);
      cells[i].push_back(launch == nullptr ? "" : in_unit(launch->mean(), unit));
    }
  }

  void add_floors(std::vector<text_table::column>& columns,
                  std::vector<std::vector<std::string>>& cells) const {
    const auto least_of = [](const row& of) {
      return of.held == nullptr ? std::nullopt : of.held->roofline_time;
    };
    double most = 0;
    for (const auto& of : rows_) most = std::max(most, least_of(of).value_or(0));
    const auto unit = unit_beside(unit_, most);
    columns.push_back({heading_in("least", unit, unit_), number, 0, 4});
    columns.push_back({"ratio", text_table::align::right, 0, 1});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool on_device = rows_[i].record->on == side::device;
      cells[i].push_back(on_device ? in_unit(least_of(rows_[i]), unit) : "");
      cells[i].push_back(on_device ? ratio_cell(rows_[i].held) : "");
    }
  }

  std::vector<std::string> shapes(const look& as) const {
    std::vector<const distribution*> samples;
    for (const auto& of : rows_) samples.push_back(&times(of));
    return shapes_of(samples, scale::own, as);
  }

  std::vector<row> rows_;
  double most_mean_ = 0;
  double most_launch_ = 0;
  bool has_floors_ = false;
  time_unit unit_;
};

}  // namespace

std::string interval_note() {
  return "95 % from, to: confidence interval of the percentile, by a block bootstrap; - beyond the "
         "frames measured";
}

run_times times_of(const run_record& record, const run_analysis& analysis, const floors& held,
                   const look& as) {
  run_times result;
  const auto& summary = analysis.summary;
  result.shapes = end_to_end_table(result, analysis, as);
  if (record.run.timing == timing_method::none || record.stages.empty()) return result;
  stage_times(record, summary, held).add_table(result, as);
  return result;
}

}  // namespace graphline
