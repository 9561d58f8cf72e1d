#pragma once

#include <string>

#include "framework/analysis/analyze.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/terminal/floor_cells.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// The times of a run as tables: end to end and stage by stage.
struct run_times {
  std::string text;     ///< tables, an empty line after each
  bool shapes = false;  ///< whether they have histograms, which the notes are to explain
};

/// Of a run that has measured a frame.
run_times times_of(const run_record& record, const run_analysis& analysis, const floors& held,
                   const look& as);

/// What the rows of intervals are, for the notes below tables.
std::string interval_note();

}  // namespace graphline
