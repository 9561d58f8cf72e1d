#include "framework/report/terminal/roofline_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/floor_cells.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/quantity.hpp"
#include "framework/report/terminal/roofline_plot.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

std::string heading(const roofline_record& record, const look& as) {
  const auto& stages = record.stages;
  const auto parameters = parameters_of(stages);
  std::string text = paragraph(subject_of(stages), 2, as, tone::heading);
  text += paragraph(way_of(stages.run), 2, as);
  text += paragraph(fmt::format("{}{}{} after {} warm-up; timing {}{}", parameters,
                                parameters.empty() ? "" : "; ", counted(stages.run.frames, "frame"),
                                stages.run.warmup, to_word(stages.run.timing),
                                record.layers.frames.empty() ? "" : ", parts layers"),
                    2, as);
  for (const auto* run : {&stages, &record.layers}) {
    if (run->failure) {
      text += '\n' + paragraph(fmt::format("FAILED under timing {}: {}", to_word(run->run.timing),
                                           printable(*run->failure)),
                               2, as, tone::bad);
    }
  }
  if (stages.interrupted || record.layers.interrupted) {
    const auto& last = stages.interrupted ? stages : record.layers;
    const auto* of = stages.interrupted ? "stages, before parts were timed" : "the run for parts";
    text += '\n' + paragraph(fmt::format("INTERRUPTED after {} of {} of {}", last.frames.size(),
                                         counted(last.run.frames, "frame"), of),
                             0, as, tone::bad);
  }
  return text;
}

/// "14.8 G", "1.23 MB"; "-" for what is not known.
std::string amount(const std::optional<std::int64_t>& value, std::string_view unit) {
  if (!value) return "-";
  auto text = format_count(static_cast<double>(*value), unit);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The rows: device stages with their parts, and CPU stages, in planned order.
class figure_rows {
 public:
  figure_rows(const run_record& record, const roofline_summary& summary, const look& as)
      : record_(record), summary_(summary), as_(as) {
    double largest = 0;
    for (const auto& stage : summary.stages) {
      largest =
          std::max({largest, stage.figures.measured.value_or(0), stage.figures.least.value_or(0)});
    }
    for (const auto& stage : record.stages)
      largest = std::max(largest, cpu_time(stage).value_or(0));
    unit_ = unit_for(largest);
  }

  std::string text() const {
    text_table table({{fmt::format("stage ({})", unit_.name), left, least_name},
                      {"FLOPs", right, 0, 4},
                      {"bytes", right, 0, 5},
                      {"FLOP/B", text_table::align::number, 0, 3},
                      {"bound", left, 0, 2},
                      {"least"},
                      {"took"},
                      {"ratio", right},
                      {"path", text_table::align::number, 0, 1}});
    std::size_t next = 0;
    for (std::size_t s = 0; s < record_.stages.size(); ++s) {
      if (next < summary_.stages.size() && summary_.stages[next].stage == s) {
        add_device_stage(table, summary_.stages[next++]);
      } else {
        table.add_row({table_name(record_.stages[s].name, as_.room(28)), "-", "-", "-", "cpu", "-",
                       in_unit(cpu_time(record_.stages[s]), unit_), "-", "-"});
      }
    }
    return table.text(as_);
  }

 private:
  static std::optional<double> cpu_time(const stage_record& stage) {
    const auto median = median_cpu_time(stage);
    return median ? std::optional(static_cast<double>(*median)) : std::nullopt;
  }

  void add_device_stage(text_table& table, const roofline_stage& stage) const {
    const auto& of = record_.stages[stage.stage];
    add(table, table_name(of.name, as_.room(28)), stage.figures,
        stage.share_of_path ? three_digits(100 * *stage.share_of_path, 1) : "-");
    for (std::size_t p = 0; p < stage.parts.size(); ++p) {
      add(table, "  " + table_name(of.parts[p].name, as_.room(26)), stage.parts[p], "");
    }
  }

  void add(text_table& table, std::string name, const roofline_figures& of,
           std::string share) const {
    table.add_row({std::move(name), amount(of.cost.flops, ""), amount(bytes_of(of.cost), "B"),
                   of.intensity ? three_digits(*of.intensity, 2) : "-",
                   of.by ? std::string(to_word(*of.by)) : "-", in_unit(of.least, unit_),
                   in_unit(of.measured, unit_), ratio_cell(of.ratio), std::move(share)});
  }

  const run_record& record_;
  const roofline_summary& summary_;
  look as_;
  time_unit unit_;
};

/// "float32    1.25 TFLOP/s (convolution); above 85.5 FLOP/B".
std::string roofs(const run_record& record, const roofline_summary& summary, const look& as) {
  const auto line = [&](std::string_view name, const ceiling_figure& of, std::string_view unit,
                        const std::string& more) {
    return paragraph(
        fmt::format("{:<12}{} ({}){}", name, format_count(of.value, unit), to_word(of.what), more),
        12, as);
  };
  std::string text = toned("roofs of the device, as calibrated", tone::heading, as) + '\n';
  std::string others;
  for (const auto& figure : record.calibration->ceilings) {
    if (figure.what > ceiling::copy || figure.what == summary.bandwidth.what) continue;
    others += fmt::format(", {} ({})", format_count(figure.value, "B/s"), to_word(figure.what));
  }
  text += line("memory", summary.bandwidth, "B/s", others);
  for (const auto& roof : summary.roofs) {
    text += line(to_word(roof.arithmetic), roof.rate, "FLOP/s",
                 fmt::format(", knee at {} FLOP/B", three_digits(roof.knee, 2)));
  }
  if (summary.least && summary.stages.size() > 1) {
    text += paragraph(fmt::format("least time  {} for all device stages, one after the other",
                                  format_duration(*summary.least)),
                      12, as);
  }
  return text + paragraph("calibrated  " + printable(record.calibration->date), 12, as);
}

std::string notes(const roofline_record& record, const look& as) {
  std::string text;
  const auto least = samples_needed(0.5);
  const auto parts = record.layers.frames.size();
  if (record.stages.frames.size() < least || (parts > 0 && parts < least)) {
    text += paragraph(fmt::format("-: too few frames: p50 needs {}", least), 2, as, tone::faint);
  }
  return text + paragraph(
                    "least: the larger of bytes over bandwidths and FLOPs over rate, of a stage "
                    "with parts the "
                    "sum of theirs; took: the median; ratio: took over least; path: % of the mean "
                    "end to end. "
                    "\"-\": not known. docs/roofline.md says what a ratio means.",
                    0, as, tone::faint);
}

}  // namespace

std::string roofline_table(const roofline_record& record, const look& as) {
  const auto& stages = record.stages;
  std::string text = heading(record, as) + '\n';
  const auto summary = hold_against_roofline(stages, &record.layers);
  if (!summary) {
    return text + paragraph(
                      "Nothing to hold the times against: the calibration of this device has "
                      "no bandwidth or no rate; run 'graphline calibrate'.",
                      0, as);
  }
  text += figure_rows(stages, *summary, as).text() + '\n';
  text += roofs(stages, *summary, as) + '\n';
  if (const auto plot = roofline_plot(stages, *summary, as); !plot.empty()) text += plot + '\n';
  const auto findings = roofline_findings(stages, *summary);
  for (const auto& finding : findings) text += paragraph("- " + printable(finding), 2, as);
  if (!findings.empty()) text += '\n';
  text += notes(record, as);
  const auto warnings = warnings_of(record);
  if (!warnings.empty()) text += '\n';
  for (const auto& warning : warnings) {
    text += paragraph("warning: " + printable(warning), 2, as, tone::warning);
  }
  return text;
}

}  // namespace graphline
