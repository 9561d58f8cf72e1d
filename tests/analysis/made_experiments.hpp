#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline::samples {

/// A configuration of a synthetic experiment.
struct made_configuration {
  std::string name;
  std::vector<std::pair<std::string, std::string>> assignments = {};
  frame_times times = {};
  timing_method timing = timing_method::event;
  std::function<void(run_record&)> change = {};
};

/// Creates a configuration named after its assignments: made_of({{"timing", "sync"}}).
made_configuration made_of(std::vector<std::pair<std::string, std::string>> assignments,
                           frame_times times = {});

/// Returns frame times with this end-to-end time.
frame_times taking(nanoseconds end_to_end);

/// Creates an experiment of `blocks` blocks. Each trial has 20 frames whose times vary slightly.
/// All configurations are compared with the first.
experiment_record made_experiment(std::string name, const std::vector<made_configuration>& of,
                                  std::size_t blocks);

/// Creates three blocks of strategy=serial and strategy=async with equal times.
experiment_record two_strategies();

/// Applies `change` to every run of a configuration.
void for_runs_of(experiment_record& record, std::size_t configuration,
                 const std::function<void(run_record&)>& change);

/// Makes the stages `backbone`, `noise` and `head` run one after another.
void put_in_a_row(run_record& run);

/// Adds a configuration of concurrent pipelines, given by name, and returns its index.
std::size_t add_together(experiment_record& to, std::string name,
                         const std::vector<std::pair<std::string, made_configuration>>& members);

/// Creates ten blocks of a camera and a control loop, with the chain `brake` across them. The data
/// age is 8 ms and the reaction time 18 ms, times the factor of the configuration; they vary by
/// 0.3 % between trials. All configurations are compared with the first, each pipeline with itself.
experiment_record made_chains(const std::vector<double>& factors, std::uint64_t seed = 1);

/// Summarizes a record without comparisons.
experiment_summary figures_of(const experiment_record& record);

/// Outcome of a comparison. `low` and `high` are the interval of value / reference or, for late
/// frames, of value - reference.
struct made_comparison {
  std::size_t pair = 0;
  graphline::figure figure = graphline::figure::p50;
  double low = 1;
  double high = 1;
  graphline::verdict verdict = graphline::verdict::same;
  std::optional<std::int64_t> more_trials = {};
};

/// Adds a comparison of values in the summary; without an interval if `low` and `high` are 0.
void add_comparison(experiment_summary& to, const experiment_record& record,
                    const made_comparison& made);

}  // namespace graphline::samples
