#include "framework/report/terminal/device_detail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "framework/analysis/run/operations.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;
constexpr std::size_t stage_width = 16;
constexpr std::size_t part_width = 32;
constexpr std::size_t operation_width = 56;
constexpr std::size_t least_width = 10;

/// Columns for what carries out the parts of a stage: what their names and figures leave.
std::size_t choice_width(std::size_t name_width, bool has_floors, const look& as) {
  constexpr std::size_t times = 20;
  constexpr std::size_t floors = 15;
  constexpr std::size_t most = 44;
  const auto taken = std::min(as.width, times + (has_floors ? floors : 0) + name_width);
  return std::clamp(as.width - taken, least_width, as.room(most));
}

/// A part's choice without what the part's name says already: of "oneDNN conv2d+bias [jit:uni]",
/// "oneDNN jit:uni" is left. A reorder stays one, whatever carries it out.
std::string brief(std::string_view choice) {
  std::string text;
  while (true) {
    const auto open = choice.find(" [");
    const auto close = open == choice.npos ? open : choice.find(']', open);
    if (close == choice.npos) return text.append(choice);
    const auto word = choice.substr(0, open).rfind(' ') + 1;  // 0 where there is no space
    const auto content = choice.substr(word, open - word);
    text += choice.substr(0, word);
    text += content == "reorder" ? content : choice.substr(open + 2, close - open - 2);
    choice.remove_prefix(close + 1);
  }
}

/// A row for each line of what carries out a part; the first has the figures.
void add_part(text_table& table, std::string name, std::string_view choice,
              std::vector<std::string> figures, std::size_t choice_width) {
  std::istringstream lines(choice.empty() ? "-"
                                          : wrapped(printable(brief(choice)), 2, choice_width));
  std::string line;
  std::getline(lines, line);
  const auto add = [&](std::string of, const std::vector<std::string>& cells) {
    std::vector<std::string> row = {std::move(of), table_name(line, choice_width)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.add_row(std::move(row));
  };
  add(std::move(name), figures);
  std::fill(figures.begin(), figures.end(), "");
  while (std::getline(lines, line)) add("", figures);
}

std::string part_table(const run_record& record, std::size_t s, const stage_summary& summary,
                       const floors& held, const look& as) {
  const auto& stage = record.stages[s];
  double most = 0;
  for (const auto& part : summary.parts) {
    if (part.times) most = std::max(most, part.times->mean());
  }
  const auto unit = unit_for(most);
  const bool has_floors = held.any_part(s);
  const auto heading =
      fmt::format("{} in parts ({})", table_name(stage.name, stage_width), unit.name);
  std::vector<text_table::column> columns = {
      {heading, left, least_width}, {"carried out by", left, least_width}, {"p50"}, {"share %"}};
  if (has_floors) columns.insert(columns.end(), {{"least"}, {"ratio", text_table::align::right}});
  text_table table(std::move(columns));
  std::size_t name_width = has_floors ? text_width(heading) : 0;
  for (const auto& part : stage.parts) {
    name_width = std::max(name_width, text_width(table_name(part.name, as.room(part_width))));
  }
  for (std::size_t i = 0; i < stage.parts.size(); ++i) {
    const auto& [times, share] = summary.parts[i];
    const auto p50 = times ? times->percentile(0.5) : std::nullopt;
    const auto& choice = stage.parts[i].choice;
    std::vector<std::string> figures = {
        in_unit(p50 ? std::optional(static_cast<double>(*p50)) : std::nullopt, unit),
        share ? three_digits(100 * *share, 2) : "-"};
    if (has_floors) {
      const auto* floor = held.of_part(s, i);
      figures.push_back(in_unit(floor == nullptr ? std::nullopt : floor->roofline_time, unit));
      figures.push_back(ratio_cell(floor));
    }
    add_part(table, table_name(stage.parts[i].name, as.room(part_width)), choice,
             std::move(figures), choice_width(name_width, has_floors, as));
  }
  return table.text(as) + "\n";
}

std::string words(nanoseconds ns) {
  return format_duration(static_cast<double>(ns));
}

}  // namespace

std::string part_tables(const run_record& record, const run_summary& summary, const floors& held,
                        const look& as) {
  std::string text;
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& parts = summary.stages[i].parts;
    const bool timed =
        std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !!part.times; });
    if (timed) text += part_table(record, i, summary.stages[i], held, as);
  }
  return text;
}

std::string operation_table(const run_record& record, const look& as) {
  std::int64_t runs = 0;
  text_table table(
      {{"stage", left, 8}, {"operation", left, least_width}, {"calls"}, {"each us"}, {"all us"}});
  for (const auto& stage : record.stages) {
    runs = std::max(runs, stage.traced_runs);
    for (const auto& operation : operations_of(stage)) {
      table.add_row({table_name(stage.name, stage_width),
                     table_name(operation.name, as.room(operation_width)),
                     fmt::format("{:g}", operation.calls),
                     in_unit(static_cast<double>(operation.median), microsecond),
                     in_unit(static_cast<double>(operation.together), microsecond)});
    }
  }
  if (runs == 0) return "";
  return "\n" +
         paragraph(fmt::format("operations (traced in {} of each stage alone; tracing slows it), "
                               "medians of a call and of all calls in a frame",
                               counted(runs, "run")),
                   2, as) +
         table.text(as);
}

std::string graph_sentence(const graph_cost_summary& cost) {
  const auto count = [](std::size_t n, std::string_view noun) {
    return counted(static_cast<std::int64_t>(n), noun);
  };
  auto text = fmt::format("{}, {}; ", cost.graphs, count(cost.nodes, "node"));
  if (cost.executables > cost.graphs) {
    text = fmt::format("{} in {}, {}; ", cost.graphs, count(cost.executables, "executable"),
                       count(cost.nodes, "node"));
  }
  text += fmt::format("capture {}, instantiate {}", words(cost.capture), words(cost.instantiate));
  if (cost.first_launch && *cost.first_launch > 0) {
    text += fmt::format(", first launch {} more than later ones", words(*cost.first_launch));
  }
  text += "; ";
  switch (cost.found) {
    case graph_cost_summary::comparison::too_few:
      return text + "too little was measured to tell what launching saves";
    case graph_cost_summary::comparison::no_difference:
      return text + "launching takes the host as long as enqueueing, as far as can be told";
    case graph_cost_summary::comparison::costs:
      return text + fmt::format(
                        "never paid for: launching takes the host {} longer a frame than "
                        "enqueueing",
                        words(std::abs(*cost.saving)));
    case graph_cost_summary::comparison::saves:
      break;
  }
  text += fmt::format("launching saves the host {} a frame", words(*cost.saving));
  if (cost.paid_after) {
    text += fmt::format(": paid for after {}", counted(*cost.paid_after, "frame"));
  }
  return text;
}

}  // namespace graphline
