#pragma once

#include <string>

#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/terminal/floor_cells.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

// What the table of a run shows of the insides of device stages and of their graphs.

/// A table for each stage that was timed in parts, an empty line after each; empty without any.
std::string part_tables(const run_record& record, const run_summary& summary, const floors& held,
                        const look& as = {});

/// The operations of each traced stage, an empty line before; empty when nothing was traced.
std::string operation_table(const run_record& record, const look& as = {});

/// What the graphs cost and after how many frames they have paid for it, without a full stop.
std::string graph_sentence(const graph_cost_summary& cost);

}  // namespace graphline
