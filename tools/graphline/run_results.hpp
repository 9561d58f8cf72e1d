#pragma once

#include <CLI/App.hpp>

#include "framework/base/error.hpp"
#include "framework/record/ranks_record.hpp"
#include "framework/record/run_record.hpp"
#include "tools/graphline/gate_options.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace graphline {

/// The results of one run, measured or predicted: its files, its gates, and what is printed.
struct run_results {
  gate_options gates;
  result_files files;
  bool quiet = false;

  void add_files_to(CLI::App& command);

  /// Adds --fail-if, --junit, --quiet and the footer.
  void add_gates_to(CLI::App& command);

  /// Prints the report, evaluates the gates and writes the files.
  exit_status report(result_outputs& outputs, const run_record& record, bool interrupted);

  /// Does the same for a run on several ranks. A condition that is true on one rank fails the run.
  exit_status report(result_outputs& outputs, const ranks_record& record);
};

}  // namespace graphline
