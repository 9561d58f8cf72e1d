#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "framework/base/quantity.hpp"
#include "framework/report/terminal/experiment_cells.hpp"
#include "framework/report/terminal/experiment_parts.hpp"

namespace graphline {

namespace {

constexpr double mebibyte = 1 << 20;

struct cost_column {
  std::string heading;
  std::function<bool(const member_summary&)> known;
  std::function<std::string(const member_summary&)> cell;  ///< where it is known
  std::string otherwise = "-";
};

/// Standard deviation of the trials' medians as a part of their p50, in percent.
std::string spread_cell(const member_summary& of) {
  const auto p50 = static_cast<double>(of.end_to_end->median());
  return three_digits(100 * *of.between_trials / p50, 2);
}

std::string percent(std::size_t part, std::size_t whole) {
  return three_digits(100 * static_cast<double>(part) / static_cast<double>(whole), 2);
}

bool has_frames(const member_summary& of) {
  return of.end_to_end && of.end_to_end->median() > 0;
}

/// "; cores 1.00 to 1.25", of the values that are known.
std::string range_of(const experiment_costs& costs, std::size_t column) {
  std::vector<std::pair<double, std::string>> values;
  for (const auto& row : costs.rows) {
    const auto& cell = row[column];
    if (cell != "-") values.emplace_back(cell.front() == '<' ? 0 : std::stod(cell), cell);
  }
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format("{} {} {}{}", column == 0 ? ":" : ";", costs.headings[column], least.second,
                     least.second == most.second ? "" : " to " + most.second);
}

std::vector<cost_column> all_columns() {
  return {
      {"spread %", [](const member_summary& of) { return of.between_trials && has_frames(of); },
       spread_cell},
      {"cores", [](const member_summary& of) { return of.cores.has_value(); },
       [](const member_summary& of) { return fmt::format("{:.2f}", *of.cores); }},
      {"device MiB", [](const member_summary& of) { return of.device_bytes > 0; },
       [](const member_summary& of) {
         return three_digits(static_cast<double>(of.device_bytes) / mebibyte, 2);
       }},
      {"late %", [](const member_summary& of) { return of.deadline && of.end_to_end; },
       [](const member_summary& of) {
         return percent(of.deadline->missed, of.end_to_end->count());
       }},
      {"dropped %", [](const member_summary& of) { return of.dropped > 0; },
       [](const member_summary& of) { return percent(of.dropped, of.due); }, "0"},
  };
}

}  // namespace

experiment_costs costs_of(const experiment_summary& summary,
                          const std::vector<configuration_member>& members) {
  const auto of = [&](const configuration_member& who) -> const member_summary& {
    return summary.configurations[who.configuration].members[who.member];
  };
  auto shown = all_columns();
  // As many for each where all blocks are complete; the heading says how many.
  const auto trials = of(members.front()).trials;
  if (std::any_of(members.begin(), members.end(),
                  [&](const auto& who) { return of(who).trials != trials; })) {
    shown.insert(shown.begin(),
                 {"trials", [](const member_summary&) { return true; },
                  [](const member_summary& m) { return fmt::format("{}", m.trials); }});
  }
  std::erase_if(shown, [&](const cost_column& column) {
    return std::none_of(members.begin(), members.end(),
                        [&](const auto& who) { return column.known(of(who)); });
  });
  experiment_costs costs;
  for (const auto& column : shown) costs.headings.push_back(column.heading);
  for (const auto& who : members) {
    auto& cells = costs.rows.emplace_back();
    for (const auto& column : shown) {
      cells.push_back(column.known(of(who)) ? column.cell(of(who)) : column.otherwise);
    }
  }
  return costs;
}

std::string cost_table(const experiment_summary& summary, const experiment_rows& rows,
                       const look& as) {
  const auto members = rows.members();
  const auto costs = costs_of(summary, members);
  if (costs.headings.empty()) return "";
  if (rows.labels().many()) {
    std::string ranges;
    for (std::size_t i = 0; i < costs.headings.size(); ++i) ranges += range_of(costs, i);
    return paragraph("beside time" + ranges, 2, as);
  }
  auto columns = rows.name_columns();
  for (const auto& heading : costs.headings) columns.push_back({heading});
  text_table table(std::move(columns));
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto cells = rows.name_cells(members[i]);
    cells.insert(cells.end(), costs.rows[i].begin(), costs.rows[i].end());
    table.add_row(std::move(cells));
  }
  return table.text(as);
}

}  // namespace graphline
