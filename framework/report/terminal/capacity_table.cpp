#include "framework/report/terminal/capacity_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/experiment/capacity_findings.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

/// The run that ended the search, if one failed.
const run_record* failed_run(const capacity_record& record) {
  if (record.closed_loop.failure) return &record.closed_loop;
  for (const auto& run : record.runs) {
    if (run.record.failure) return &run.record;
  }
  return nullptr;
}

std::string heading(const capacity_record& record, const look& as) {
  const auto& first = record.closed_loop;
  const auto& how = record.how;
  settings way = first.run;
  way.arrival = arrival::closed;  // the rate is what is looked for, not how the pipeline runs
  std::string text = paragraph(subject_of(first), 2, as, tone::heading);
  text += paragraph(fmt::format("{}, timing {}", way_of(way), to_word(way.timing)), 2, as);
  if (!first.parameters.empty()) text += paragraph(parameters_of(first), 2, as);
  text += paragraph(
      fmt::format("highest rate with {} within {}; arrivals {}, {} a run of the search",
                  percentile_name(how.percentile), format_duration(static_cast<double>(how.bound)),
                  to_word(how.arrival), counted(how.frames, "frame")),
      2, as);
  if (const auto* failed = failed_run(record)) {
    text += '\n' + paragraph("FAILED: " + printable(*failed->failure), 2, as, tone::bad);
  }
  if (record.interrupted) {
    text += '\n' + paragraph("INTERRUPTED: the highest rate may lie elsewhere", 0, as, tone::bad);
  }
  return text;
}

/// "holds", or in how many of its runs it held.
std::string verdict_cell(const probe_summary& probe, const look& as) {
  const auto all = probe.runs.size();
  auto text = fmt::format("held in {} of {}", probe.held, all);
  if (probe.held == all) text = toned("holds", tone::good, as);
  if (probe.held == 0) text = toned("fails", tone::bad, as);
  if (!probe.pooled) text += " *";
  if (probe.cut_off) text += ", cut off";
  if (probe.growing == all) text += ", queue grows";
  return text;
}

/// A row for each rate, times in a unit that suits the bound.
std::string probe_table(const capacity_summary& summary, const capacity_settings& how,
                        const look& as) {
  const auto unit = unit_for(static_cast<double>(how.bound));
  const auto cell = [unit](const std::optional<nanoseconds>& ns) {
    return in_unit(ns ? std::optional(static_cast<double>(*ns)) : std::nullopt, unit);
  };
  const bool drops = std::any_of(summary.probes.begin(), summary.probes.end(),
                                 [](const auto& probe) { return probe.dropped > 0; });
  std::vector<text_table::column> columns = {{"frame/s"}, {"runs"}, {"frames"}};
  if (drops) columns.push_back({"dropped"});
  for (const auto& name :
       {std::string("late %"), fmt::format("p50 ({})", unit.name), percentile_name(how.percentile),
        std::string("from"), std::string("to")}) {
    columns.push_back({name});
  }
  columns.push_back({"verdict", left});
  text_table table(std::move(columns));

  auto probes = summary.probes;
  std::stable_sort(probes.begin(), probes.end(),
                   [](const auto& a, const auto& b) { return a.rate < b.rate; });
  for (const auto& probe : probes) {
    const auto rate = rate_text(probe.rate);
    std::vector<std::string> cells = {rate.substr(0, rate.find(' ')),
                                      fmt::to_string(probe.runs.size()),
                                      fmt::to_string(probe.times.frames)};
    if (drops) cells.push_back(fmt::to_string(probe.dropped));
    cells.push_back(three_digits(100 * probe.times.late_share(), 2));
    for (const auto& ns : {probe.times.p50, probe.times.value, probe.times.low, probe.times.high}) {
      cells.push_back(cell(ns));
    }
    cells.push_back(verdict_cell(probe, as));
    table.add_row(std::move(cells));
  }
  return table.text(as);
}

std::string notes(const capacity_summary& summary, const look& as) {
  std::string text = paragraph(
      "from, to: 95 % interval of the percentile. Late: over the bound, dropped, or not waited for "
      "any longer in a run that was cut off. The first tenth of each run is not counted. A run "
      "holds when no more of its frames are late than may be.",
      0, as, tone::faint);
  if (std::any_of(summary.probes.begin(), summary.probes.end(),
                  [](const auto& probe) { return !probe.pooled; })) {
    text += paragraph("*: only to find about where; the estimate rests on the other runs.", 0, as,
                      tone::faint);
  }
  return text;
}

std::string headline(const capacity_estimate& found) {
  if (!found.rate) return "none found";
  auto text = rate_text(*found.rate);
  if (found.low && found.high) {
    const auto low = rate_text(*found.low);
    text += fmt::format(" (95 % interval {} to {})", low.substr(0, low.find(' ')),
                        rate_text(*found.high));
  }
  return text;
}

}  // namespace

std::string capacity_table(const capacity_record& record, const look& as) {
  const auto summary = summarize(record);
  std::string text = heading(record, as) + '\n';
  text += fmt::format("capacity     {}\n", headline(summary.estimate));
  if (summary.closed_loop) {
    text += fmt::format("closed loop  {}\n", rate_text(*summary.closed_loop));
  }
  text += '\n';
  if (!summary.probes.empty()) {
    text += probe_table(summary, record.how, as) + '\n' + notes(summary, as) + '\n';
  }
  for (const auto& finding : findings_of(summary, record.how)) {
    text += paragraph("- " + finding, 2, as);
  }
  if (!summary.warnings.empty()) text += '\n';
  for (const auto& warning : summary.warnings) {
    text += paragraph("warning: " + printable(warning), 2, as, tone::warning);
  }
  return text;
}

}  // namespace graphline
