#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/base/error.hpp"
#include "framework/record/experiment_record.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace CLI {
class App;
}

namespace graphline {

/// The files that a command writes an experiment to, as named on the command line.
struct experiment_files {
  std::string json;
  std::string csv;
  std::string html;
  std::string markdown;

  /// Adds --json, --csv, --html and --markdown.
  void add_to(CLI::App& command);

  /// About how long they will be, where that is known before.
  struct sizes {
    std::uint64_t json = 0;
    std::uint64_t csv = 0;
  };
  /// `read`: what the command reads, and must not write. `more`: files it writes besides.
  result_outputs open(const sizes& expected, const std::vector<std::string>& read,
                      std::vector<requested_output> more = {}) const;

  /// Shows the tables, unless `quiet`, and writes the files.
  void write(result_outputs& to, const experiment_record& record,
             const experiment_analysis& analysis, bool quiet) const;
};

/// Of the command that measured it.
exit_status status_of(const experiment_record& record);

}  // namespace graphline
