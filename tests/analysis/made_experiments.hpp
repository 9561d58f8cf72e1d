#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline::samples {

/// A configuration of a made-up experiment: what a frame takes, and what its runs are like beyond
/// that.
struct made_configuration {
  std::string name;
  std::vector<std::pair<std::string, std::string>> assignments = {};
  frame_times times = {};
  timing_method timing = timing_method::event;
  std::function<void(run_record&)> change = {};
};

/// Assignments and the name made of them: made_of({{"timing", "sync"}}).
made_configuration made_of(std::vector<std::pair<std::string, std::string>> assignments,
                           frame_times times = {});

/// What a frame takes that is that long from end to end.
frame_times taking(nanoseconds end_to_end);

/// `blocks` blocks of all configurations, 20 frames a trial whose times vary a little. All are
/// compared with the first.
experiment_record made_experiment(std::string name, const std::vector<made_configuration>& of,
                                  std::size_t blocks);

/// Three blocks of strategy=serial and strategy=async, with the same times.
experiment_record two_strategies();

/// Changes every run of a configuration.
void for_runs_of(experiment_record& record, std::size_t configuration,
                 const std::function<void(run_record&)>& change);

/// Lets `noise` begin when `backbone` has ended, and `head` when `noise` has.
void put_in_a_row(run_record& run);

/// Adds a further configuration, of several pipelines at once: runs and names of its members.
std::size_t add_together(experiment_record& to, std::string name,
                         const std::vector<std::pair<std::string, made_configuration>>& members);

/// A summary with the plain figures of a record, and nothing compared.
experiment_summary figures_of(const experiment_record& record);

/// What a record shows, as data: "key(subject, subject) figure=1.50 ms other=text [case]".
std::vector<std::string> findings(const experiment_record& record,
                                  const experiment_summary& summary);

/// What the plain figures of a record show.
std::vector<std::string> findings(const experiment_record& record);

/// What a comparison came to; ratio and interval as value / reference, of late frames as value -
/// reference.
struct made_comparison {
  std::size_t pair = 0;
  graphline::figure figure = graphline::figure::p50;
  double low = 1;
  double high = 1;
  graphline::verdict verdict = graphline::verdict::same;
  std::optional<std::int64_t> more_trials = {};
};

/// Adds a comparison of two pipelines' figures, as they stand in the summary. `low` and `high` 0:
/// no interval.
void add_comparison(experiment_summary& to, const experiment_record& record,
                    const made_comparison& made);

}  // namespace graphline::samples
