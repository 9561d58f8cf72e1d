#pragma once

#include <string>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/terminal/experiment_rows.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

// The parts of an experiment's report, top to bottom. Each is empty where there is nothing to show,
// else it ends in a newline.

/// What was run, on what, how often, and what went wrong.
std::string experiment_heading(const experiment_record& record, const experiment_summary& summary,
                               const look& as);

/// p50 against the baseline, then tail and throughput; of many configurations all in one table. An
/// empty line is before each.
struct verdict_part {
  std::string text;
  bool shapes = false;  ///< whether there are histograms, which the notes are to explain
};
verdict_part verdict_tables(const experiment_record& record, const experiment_summary& summary,
                            const experiment_rows& rows, const look& as);

/// The stages of each pipeline side by side; of many configurations those that changed.
std::string stage_tables(const experiment_record& record, const experiment_summary& summary,
                         const experiment_rows& rows, const look& as);

/// Spread between trials, cores, memory, and frames late or dropped; of many configurations from
/// the least to the most.
std::string cost_table(const experiment_summary& summary, const experiment_rows& rows,
                       const look& as);

/// What the words and figures of the tables mean.
std::string experiment_notes(const experiment_record& record, const experiment_summary& summary,
                             bool shapes, const look& as);

}  // namespace graphline
