#pragma once

#include <string>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

// What every report of an experiment says in the same words. Fit to be shown: no control
// characters, no invalid UTF-8.

/// What was run on what, and what holds for every configuration. Empty without trials.
std::vector<std::string> subject_lines(const experiment_record& record);

/// "10 blocks of 3 trials in random order; a trial: 20 frames after 5 warm-up"; of an experiment
/// that ended within a block "4 of 6 trials of 2 blocks, in random order".
std::string extent_of(const experiment_record& record);

/// What became of the experiment where it did not run as a whole.
struct experiment_ending {
  bool bad = false;  ///< a failure or an interruption
  std::string text;
};
std::vector<experiment_ending> endings_of(const experiment_record& record,
                                          const experiment_summary& summary);

/// Why there are no intervals and verdicts, or no comparisons at all; empty where there are.
std::string lack_of_verdicts(const experiment_record& record, const experiment_summary& summary);

/// What the words and figures of the report mean.
std::vector<std::string> note_lines(const experiment_record& record,
                                    const experiment_summary& summary);

}  // namespace graphline
