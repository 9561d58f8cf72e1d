#include "framework/report/terminal/experiment_table.hpp"

#include <string>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/experiment/sweep.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/sentences.hpp"
#include "framework/report/terminal/experiment_parts.hpp"
#include "framework/report/terminal/experiment_sentences.hpp"
#include "framework/report/terminal/sweep_table.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

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
  for (const auto& text : report::sentences_of(findings_of(record, summary))) {
    findings += paragraph("- " + printable(text), 2, as);
  }
  add(findings);
  std::string warnings;
  for (const auto& text : report::sentences_of(trial_warnings(record))) {
    warnings += paragraph("warning: " + printable(text), 2, as, tone::warning);
  }
  add(warnings);
  return text;
}

}  // namespace graphline
