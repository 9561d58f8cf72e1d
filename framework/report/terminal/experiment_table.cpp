#include "framework/report/terminal/experiment_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "framework/analysis/experiment_findings.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/experiment_parts.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

/// What a warning says beside its figures, which differ from trial to trial.
std::string without_figures(std::string text) {
  std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return text;
}

/// What runs warned of, each once, as the first run put it, with where it was said.
std::string warnings(const experiment_record& record, const experiment_labels& labels,
                     const look& as) {
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
  std::string text;
  for (const auto& [warning, where] : known) {
    text += paragraph(
        fmt::format("warning: {} ({})", printable(warning), printable(labels.list(where))), 2, as,
        tone::warning);
  }
  return text;
}

}  // namespace

std::string experiment_table(const experiment_record& record, const experiment_summary& summary,
                             const look& as) {
  if (record.trials.empty()) return "No trial was measured.\n";
  const experiment_rows rows(record, as);
  auto text = experiment_heading(record, summary, as);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  const auto verdicts = verdict_tables(record, summary, rows, as);
  add(verdicts.text);
  add(stage_tables(record, summary, rows, as));
  add(cost_table(summary, rows, as));
  add(experiment_notes(record, summary, verdicts.shapes, as));
  std::string findings;
  for (const auto& finding : findings_of(record, summary)) {
    findings += paragraph("- " + printable(finding), 2, as);
  }
  add(findings);
  add(warnings(record, rows.labels(), as));
  return text;
}

}  // namespace graphline
