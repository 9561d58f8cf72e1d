#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/finding.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/record/ranks_record.hpp"

namespace graphline {

/// A stage over all ranks that timed it; of a pipeline in parts, over the one that runs it.
struct pooled_stage {
  std::string name;  ///< with "@rankN" for copies that have the same name on several ranks
  measure what = measure::device_time;
  distribution times;       ///< of all ranks
  std::size_t slowest = 0;  ///< index of the rank with the longest median
  distribution of_slowest;
};

/// A run on several ranks.
struct ranks_analysis {
  std::vector<std::optional<run_analysis>> ranks;  ///< as in the record; empty for a lost rank
  /// Of the frames of all ranks or, of a pipeline in parts, from due on rank 0 to the end on the
  /// last rank; empty if a clock is unknown.
  std::optional<distribution> end_to_end;
  std::optional<nanoseconds> clock_error;  ///< largest, of a pipeline in parts
  /// Of a pipeline in parts, the frames that all ranks completed as a run without stages, on the
  /// clock of rank 0, and its summary; empty if a clock is unknown.
  std::optional<run_record> whole;
  run_summary whole_summary;
  /// Sum over all ranks or, of a pipeline in parts, frames that all ranks completed per second.
  /// Empty if a rank has none.
  std::optional<double> throughput;
  std::vector<pooled_stage> stages;
  /// Begins of the first frames, in ns after that of rank 0, on its clock; empty where the rank has
  /// no frame or its clock was not placed.
  std::vector<std::optional<nanoseconds>> began;
  /// Failures (ranks that failed or were lost), then warnings, each with the ranks that it is
  /// about, then notes.
  std::vector<finding> findings;
};

ranks_analysis analyze(const ranks_record& record);

}  // namespace graphline
