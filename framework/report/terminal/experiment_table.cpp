#include "framework/report/terminal/experiment_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/experiment/sweep.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/experiment_parts.hpp"
#include "framework/report/terminal/experiment_sentences.hpp"
#include "framework/report/terminal/sweep_table.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

/// What a warning says beside its figures, which differ from trial to trial.
std::string without_figures(std::string text) {
  std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return text;
}

}  // namespace

std::vector<std::string> warning_lines(const experiment_record& record,
                                       const experiment_labels& labels) {
  std::vector<std::pair<std::string, std::vector<configuration_member>>> known;
  const auto place_of = [&known](const std::string& warning) {
    return std::ranges::find(known, without_figures(warning),
                             [](const auto& one) { return without_figures(one.first); });
  };
  for (const auto& who : labels.all()) {
    for (const auto& trial : record.trials) {
      if (trial.configuration != who.configuration || who.member >= trial.members.size()) continue;
      for (const auto& warning : trial.members[who.member].warnings) {
        auto found = place_of(warning);
        if (found == known.end()) found = known.insert(found, {warning, {}});
        auto& where = found->second;
        if (where.empty() || where.back() != who) where.push_back(who);
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [warning, where] : known) {
    lines.push_back(fmt::format("{} ({})", printable(warning), printable(labels.list(where))));
  }
  return lines;
}

std::string experiment_table(const experiment_record& record, const experiment_summary& summary,
                             const look& as) {
  if (record.trials.empty()) return "No trial was measured.\n";
  const experiment_rows rows(record, as);
  auto text = experiment_heading(record, summary, as);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add(rows.legend(as));
  const auto verdicts = verdict_tables(record, summary, rows, as);
  text += verdicts.text;
  add(stage_tables(record, summary, rows, as));
  add(cost_table(summary, rows, as));
  if (const auto swept = sweep_of(record, summary)) add(sweep_section(*swept, as));
  add(experiment_notes(record, summary, verdicts.shapes, as));
  std::string findings;
  for (const auto& finding : findings_of(record, summary)) {
    findings += paragraph("- " + printable(finding), 2, as);
  }
  add(findings);
  std::string warnings;
  for (const auto& line : warning_lines(record, rows.labels())) {
    warnings += paragraph("warning: " + line, 2, as, tone::warning);
  }
  add(warnings);
  return text;
}

}  // namespace graphline
