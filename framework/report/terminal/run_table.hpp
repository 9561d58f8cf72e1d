#pragma once

#include <string>

#include "framework/analysis/analyze.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// A run for a person at a terminal: what was run, end to end and stage by stage with the spread,
/// throughput, deadline, memory, and what each figure means. UTF-8, 80 columns unless names or
/// numbers need more, no colours, no control characters whatever the names hold.
/// `analysis`: that of the record.
std::string run_table(const run_record& record, const run_analysis& analysis, const look& as = {});

inline std::string run_table(const run_record& record, const look& as = {}) {
  return run_table(record, analyze(record), as);
}

}  // namespace graphline
