#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/diff/experiment_diff.hpp"
#include "framework/analysis/ranks/ranks_summary.hpp"
#include "framework/analysis/roofline/theoretical_peak.hpp"
#include "framework/plan/cost_summary.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/ranks_record.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/document.hpp"

namespace graphline::report {

document describe(const run_record& record, const run_analysis& analysis);
document describe(const roofline_record& record, const roofline_analysis& analysis);
document describe(const capacity_record& record, const capacity_analysis& analysis);
document describe(const experiment_record& record, const experiment_analysis& analysis);
document describe(const ranks_record& record, const ranks_analysis& analysis);
document describe(const validation_record& record, const validation_summary& summary);

template <class Record>
document describe(const Record& record) {
  return describe(record, analyze(record));
}

/// Describes a planned experiment: its configurations, their references, and how trials run and
/// end. `trial_times` estimates the duration of a trial for each configuration. `ranks` is the
/// number of ranks that run blocks.
document describe(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times,
                  std::size_t ranks = 1);

/// Returns "name: 4 configurations, 10 trials each: about 1 min 20 s".
std::string in_brief(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times,
                     std::size_t ranks = 1);

/// Returns warnings if there are too few trials for verdicts or for the tail percentile.
std::vector<std::string> forewarnings(const experiment_plan& planned, std::size_t ranks = 1);

/// Facts about a calibration that its record does not contain.
struct calibration_notes {
  std::optional<double> clock_mhz = {};  ///< clock that the user set for the theoretical peaks
  std::string kept_in = {};              ///< file of the calibration; empty if it was not stored
};
document describe(const calibration_record& record, const calibration_notes& notes = {});

/// Adds tables of latency, stages and attribution. Without frames, adds only the table of stages.
void add_run_tables(document& to, const run_record& record, const run_analysis& analysis);

/// Adds the deadlines of stages, and the waits of ready stages, if the run has them.
void add_waits(document& to, const run_record& record, const run_summary& summary);

/// Adds the tables that only predictions have: sensitivity, worst case, factors of another device.
void add_prediction_tables(document& to, const prediction_record& prediction,
                           const distribution& end_to_end);

/// Adds the charts for which the run has data.
void add_run_charts(document& to, const run_record& record, const run_analysis& analysis);

/// Returns the figures that a histogram marks.
std::vector<std::pair<std::string, nanoseconds>> marks_of(const distribution& times);

/// Returns timelines of at most `most_numbers` numbers in total. They contain the median frame and
/// the slowest frames, each with its neighbors. Evenly spaced frames fill the remaining room.
timeline_chart timeline_of(const run_record& record, std::size_t median,
                           std::size_t most_numbers = 200'000);

document describe(const cost_summary& summary);

/// Describes a plan: the stages in planned order, where they run, what they wait for, the tensors
/// of a frame, and memory. `cores`: number of cores for CPU stages; 0 if unknown.
document describe(const plan& p, const plan_target& target, int cores = 0);

/// Verdicts that `diff` shows instead of its own tables and figures.
struct judged_tables {
  std::string answer;
  std::vector<document::part> parts;
};
/// Compares two results of the same kind: tables by row and column, facts by name.
document diff(const document& before, const document& after, const std::string& file_before,
              const std::string& file_after, const judged_tables* judged = nullptr);

/// Compares runs, including their outputs.
document diff(const analyzed_run& before, const analyzed_run& after);

/// Compares experiments. `found`: their verdicts.
document diff(const experiment_record& before, const experiment_record& after,
              const experiment_diff& found);

// Parts that several documents share.

using name_texts = std::vector<std::pair<std::string, std::string>>;

/// Returns the lines of a heading: "two_models on host: NAME (1 compute thread)", then the
/// settings, then frames and `timing`.
std::vector<std::string> heading_of(const run_record& record, std::string_view timing);

/// Adds a failure if a run failed or was interrupted. `which`: suffix such as " under timing
/// layers".
void add_failures(document& to, const run_record& record, const std::string& which);

void add_machine(document& to, const device_properties& device, const name_texts& environment);

/// Adds the settings `run`, and the device, environment and source files of `record`.
void add_origin(document& to, const run_record& record, const settings& run);

/// Returns settings under their names in a record, without those that do not apply to the run.
std::vector<fact> settings_facts(const settings& run);
std::vector<fact> settings_facts(const experiment_settings& how);

/// Returns a table with a row for each ceiling, including ridge points. `measured`: the samples of
/// `figures`, in the same order; null if the result does not contain them.
table ceiling_table(const std::vector<ceiling_figure>& figures,
                    const std::vector<ceiling_record>* measured = nullptr,
                    const std::vector<theoretical_peak>& peaks = {});

std::vector<fact> facts_of(const name_texts& pairs);

/// Returns the parameters of a pipeline as the fact "params". Converts texts of numbers and
/// booleans.
fact parameters_fact(const name_texts& given);

}  // namespace graphline::report
