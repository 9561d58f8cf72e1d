#pragma once

#include <string>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// An experiment for a person at a terminal: configurations side by side, each against its
/// reference with interval and verdict, stages, then what was found, in sentences. UTF-8, 80
/// columns unless names or numbers need more.
std::string experiment_table(const experiment_record& record, const experiment_summary& summary,
                             const look& as = {});

inline std::string experiment_table(const experiment_record& record) {
  return experiment_table(record, summarize(record));
}

}  // namespace graphline
