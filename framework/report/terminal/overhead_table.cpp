#include "framework/report/terminal/overhead_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "framework/analysis/experiment/overhead.hpp"
#include "framework/analysis/experiment/overhead_findings.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

constexpr std::size_t label_width = 30;  // with which all but names of stages stand whole

std::size_t blocks_begun(const overhead_record& record) {
  std::set<std::size_t> blocks;
  for (const auto& trial : record.trials) blocks.insert(trial.block);
  return blocks.size();
}

std::string heading(const overhead_record& record, const overhead_summary& summary,
                    const look& as) {
  const auto& first = record.trials.front().record;
  const auto count = [](std::size_t n, std::string_view noun) {
    return counted(static_cast<std::int64_t>(n), noun);
  };
  std::string text = paragraph(subject_of(first), 2, as, tone::heading);
  text += paragraph(fmt::format("timing methods compared: {}", way_of(first.run)), 2, as);
  if (!first.parameters.empty()) text += paragraph(parameters_of(first), 2, as);
  text += paragraph(
      fmt::format("{} of {} in random order, {} each after {} warm-up",
                  count(blocks_begun(record), "block"), count(record.methods.size(), "trial"),
                  counted(first.run.frames, "frame"), first.run.warmup),
      2, as);
  std::string ending;
  for (const auto& trial : record.trials) {
    if (!trial.record.failure) continue;
    ending += paragraph(fmt::format("FAILED under timing {}: {}", to_word(trial.record.run.timing),
                                    printable(*trial.record.failure)),
                        2, as, tone::bad);
  }
  if (record.interrupted) ending += paragraph("INTERRUPTED", 0, as, tone::bad);
  if (summary.trials_left_out > 0) {
    ending += paragraph(fmt::format("left out: {}, of blocks that are not complete",
                                    count(summary.trials_left_out, "trial")),
                        0, as);
  }
  if (!ending.empty()) text += '\n';
  return text + ending;
}

std::string_view short_name(timing_method method) {
  switch (method) {
    case timing_method::none:
      return "-";
    case timing_method::host:
      return "launch";
    case timing_method::sync:
      return "serialised";
    case timing_method::event:
    case timing_method::layers:
      return "device";
  }
  return "?";
}

/// One cell per method.
using cell_function = std::function<std::string(const method_summary&)>;

class method_table {
 public:
  explicit method_table(const overhead_summary& summary)
      : summary_(summary), table_(columns_of(summary)) {}

  void add(std::string name, const cell_function& cell) {
    std::vector<std::string> cells = {std::move(name)};
    for (const auto& method : summary_.methods) cells.push_back(cell(method));
    table_.add_row(std::move(cells));
  }

  void add_gap() { table_.add_row(std::vector<std::string>(summary_.methods.size() + 1)); }

  std::string text(const look& as) const { return table_.text(as); }

 private:
  static std::vector<text_table::column> columns_of(const overhead_summary& summary) {
    std::vector<text_table::column> columns = {{"timing", text_table::align::left, label_width}};
    for (const auto& method : summary.methods) {
      columns.push_back({std::string(to_word(method.method))});
    }
    return columns;
  }

  const overhead_summary& summary_;
  text_table table_;
};

void add_stages(method_table& table, const overhead_summary& summary) {
  table.add("a device stage's time is",
            [](const method_summary& m) { return std::string(short_name(m.method)); });
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const auto time = [i](const method_summary& m) -> std::optional<double> {
      if (m.stages.size() <= i || !m.stages[i].time) return std::nullopt;
      return m.stages[i].time->median;
    };
    double most = 0;
    for (const auto& m : summary.methods) most = std::max(most, time(m).value_or(0));
    const auto unit = unit_for(most);
    table.add(fmt::format("{} ({})", table_name(summary.stages[i]), unit.name),
              [&](const method_summary& m) { return in_unit(time(m), unit); });
  }
}

void add_end_to_end(method_table& table, const overhead_summary& summary) {
  double most = 0;
  for (const auto& m : summary.methods) {
    if (m.end_to_end) most = std::max(most, m.end_to_end->median);
  }
  const auto unit = unit_for(most);
  table.add(fmt::format("end to end ({})", unit.name), [unit](const method_summary& m) {
    return in_unit(m.end_to_end ? std::optional(m.end_to_end->median) : std::nullopt, unit);
  });
  table.add("  middle half of trials within", [unit](const method_summary& m) {
    return in_unit(m.end_to_end ? m.end_to_end->spread : std::nullopt, unit);
  });
}

void add_costs(method_table& table) {
  const auto us = [](double ns) { return signed_digits(ns / microsecond.nanoseconds, 2); };
  table.add("overhead against none (us)",
            [us](const method_summary& m) { return m.cost ? us(m.cost->median) : "-"; });
  table.add("  95 % interval from", [us](const method_summary& m) {
    return m.cost && m.cost->range ? us(m.cost->range->low) : "-";
  });
  table.add("  to", [us](const method_summary& m) {
    return m.cost && m.cost->range ? us(m.cost->range->high) : "-";
  });
  const auto percent = [](const added_cost& c, double ns) {
    return signed_digits(c.percent(ns), 3);
  };
  table.add("overhead (%)", [percent](const method_summary& m) {
    return m.cost ? percent(*m.cost, m.cost->median) : "-";
  });
  table.add("  95 % interval from", [percent](const method_summary& m) {
    return m.cost && m.cost->range ? percent(*m.cost, m.cost->range->low) : "-";
  });
  table.add("  to", [percent](const method_summary& m) {
    return m.cost && m.cost->range ? percent(*m.cost, m.cost->range->high) : "-";
  });
}

}  // namespace

std::string overhead_table(const overhead_record& record, const look& as) {
  if (record.trials.empty()) return "No trial was measured.\n";
  const auto summary = summarize(record);
  method_table table(summary);
  add_stages(table, summary);
  table.add_gap();
  add_end_to_end(table, summary);
  table.add_gap();
  add_costs(table);

  std::string text = heading(record, summary, as) + "\n" + table.text(as) + "\n";
  for (const auto method : record.methods) {
    text +=
        paragraph(fmt::format("{:<8}{}", to_word(method), meaning_of(method)), 8, as, tone::faint);
  }
  text += '\n';
  text += paragraph(
      "Times: median over the trials of each trial's median frame. Overhead: from the trial under "
      "none in the same block, median over the blocks; interval by the sign test.",
      0, as, tone::faint);
  const auto findings = findings_of(summary);
  if (!findings.empty()) text += '\n';
  for (const auto& finding : findings) text += paragraph("- " + finding, 2, as);
  if (!summary.warnings.empty()) text += '\n';
  for (const auto& warning : summary.warnings) {
    text += paragraph("warning: " + printable(warning), 2, as, tone::warning);
  }
  return text;
}

}  // namespace graphline
