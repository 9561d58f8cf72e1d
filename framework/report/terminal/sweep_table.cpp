#include "framework/report/terminal/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/sweep_plot.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

/// "14.8 G", "1.23 MB"; "-" for what is not known.
std::string count_cell(const std::optional<std::int64_t>& count, std::string_view unit) {
  return count ? format_count(static_cast<double>(*count), unit) : "-";
}

std::string number_cell(const std::optional<double>& number, double unit = 1) {
  return number ? three_digits(*number / unit, 3) : "-";
}

struct rate_unit {
  std::string_view name;
  double size;
};

/// That in which the largest rate has one to three digits before the point, if there is one.
rate_unit rate_unit_for(double largest) {
  constexpr rate_unit units[] = {{"kFLOP/s", 1e3}, {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9}};
  for (const auto unit : units) {
    if (largest < 999.5 * unit.size) return unit;
  }
  return {"TFLOP/s", 1e12};
}

double largest(const sweep& of, std::optional<double> sweep_point::*figure) {
  double most = 0;
  for (const auto& point : of.points) most = std::max(most, (point.*figure).value_or(0));
  return most;
}

/// How times are written: in one unit, named in the headings, or each with its own where some would
/// be left with fewer than three digits.
class time_cells {
 public:
  explicit time_cells(const sweep& of)
      : unit_(
            unit_for(std::max(largest(of, &sweep_point::time), largest(of, &sweep_point::least)))) {
    for (const auto& point : of.points) {
      for (const auto& time : {point.time, point.least}) {
        one_unit_ = one_unit_ && (!time || *time >= 0.0995 * unit_.nanoseconds);
      }
    }
  }

  text_table::align align() const {
    return one_unit_ ? text_table::align::number : text_table::align::right;
  }
  std::string heading(std::string_view what) const {
    return one_unit_ ? fmt::format("{} {}", what, unit_.name) : std::string(what);
  }
  std::string operator()(const std::optional<double>& time) const {
    if (one_unit_) return in_unit(time, unit_);
    return time ? format_duration(*time) : "-";
  }

 private:
  time_unit unit_;
  bool one_unit_ = true;
};

struct figure_column {
  std::string heading;
  text_table::align align;
  std::function<bool(const sweep_point&)> known;
  std::function<std::string(const sweep_point&)> cell;
};

/// Those of which anything is known.
std::vector<figure_column> columns_of(const sweep& of) {
  const auto number = text_table::align::number;
  const time_cells time(of);
  const auto rate = rate_unit_for(largest(of, &sweep_point::rate));
  std::vector<figure_column> all = {
      {"FLOPs", right, [](const sweep_point& p) { return p.flops.has_value(); },
       [](const sweep_point& p) { return count_cell(p.flops, ""); }},
      {"bytes", right, [](const sweep_point& p) { return p.bytes.has_value(); },
       [](const sweep_point& p) { return count_cell(p.bytes, "B"); }},
      {"FLOP/B", number, [](const sweep_point& p) { return p.intensity.has_value(); },
       [](const sweep_point& p) { return number_cell(p.intensity); }},
      {time.heading("p50"), time.align(), [](const sweep_point& p) { return p.time.has_value(); },
       [time](const sweep_point& p) { return time(p.time); }},
      {std::string(rate.name), number, [](const sweep_point& p) { return p.rate.has_value(); },
       [rate](const sweep_point& p) { return number_cell(p.rate, rate.size); }},
      {time.heading("least"), time.align(),
       [](const sweep_point& p) { return p.least.has_value(); },
       [time](const sweep_point& p) { return time(p.least); }},
      {"bound", left, [](const sweep_point& p) { return p.by.has_value(); },
       [](const sweep_point& p) { return p.by ? std::string(to_word(*p.by)) : "-"; }},
      {"ratio", right, [](const sweep_point& p) { return p.ratio.has_value(); },
       [](const sweep_point& p) { return p.ratio ? three_digits(*p.ratio, 2) + 'x' : "-"; }}};
  std::erase_if(all, [&](const figure_column& column) {
    return std::none_of(of.points.begin(), of.points.end(), column.known);
  });
  return all;
}

}  // namespace

sweep_cells cells_of(const sweep& of) {
  const auto columns = columns_of(of);
  sweep_cells result;
  result.headings.push_back(of.key);
  for (const auto& column : columns) result.headings.push_back(column.heading);
  for (const auto& point : of.points) {
    auto& row = result.rows.emplace_back();
    row.push_back(point.text);
    for (const auto& column : columns) row.push_back(column.cell(point));
  }
  return result;
}

std::string sweep_title(const sweep& of) {
  return fmt::format("against {}: {}", printable(of.key),
                     of.what ? "the device stages of the median frame"
                             : "the device stages, and the median frame end to end");
}

std::vector<std::string> sweep_notes(const sweep& of) {
  std::vector<std::string> notes = {
      "FLOPs, bytes: of a frame's device stages without copies, as they were carried out; FLOP/B: "
      "FLOPs for each byte"};
  const bool held = std::any_of(of.points.begin(), of.points.end(),
                                [](const sweep_point& p) { return p.least.has_value(); });
  if (held) {
    notes.push_back(
        "least: the larger of bytes / bandwidth and FLOPs / rate, as the device was calibrated; "
        "ratio: p50 over that");
  }
  return notes;
}

std::string sweep_section(const sweep& of, const look& as) {
  const auto shown = columns_of(of);
  std::vector<text_table::column> columns = {{table_name(of.key), text_table::align::number, 10}};
  for (const auto& column : shown) columns.push_back({column.heading, column.align});
  text_table table(std::move(columns));
  for (auto& row : cells_of(of).rows) table.add_row(std::move(row));
  auto text = paragraph(sweep_title(of), 2, as, tone::heading) + table.text(as);
  const auto plot = sweep_plot(of, as);
  return plot.empty() ? text : text + '\n' + plot;
}

}  // namespace graphline
