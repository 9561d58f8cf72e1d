#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/diff/experiment_diff.hpp"
#include "framework/analysis/roofline/theoretical_peak.hpp"
#include "framework/plan/cost_summary.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/document.hpp"

namespace graphline::report {

// Documents of all kinds of results.

document describe(const run_record& record, const run_analysis& analysis);
document describe(const roofline_record& record, const roofline_analysis& analysis);
document describe(const capacity_record& record, const capacity_analysis& analysis);
document describe(const experiment_record& record, const experiment_analysis& analysis);

/// Analyzes and describes a record.
template <class Record>
document describe(const Record& record) {
  return describe(record, analyze(record));
}

/// Describes the plan of an experiment: configurations with their references, and how trials run
/// and end. `trial_times`: for each configuration, the approximate time of a trial.
document describe(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times);

/// Returns "name: 4 configurations, 10 trials each: about 1 min 20 s".
std::string in_brief(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times);

/// Returns warnings if the planned trials are too few for verdicts, or for the tail percentile.
std::vector<std::string> forewarnings(const experiment_plan& planned);

/// Facts that the document of a calibration shows, but its record does not contain.
struct calibration_notes {
  std::optional<double> clock_mhz = {};  ///< clock for the theoretical peaks, if the user gave one
  std::string kept_in = {};              ///< file of the calibration; empty if it was not stored
};
document describe(const calibration_record& record, const calibration_notes& notes = {});

/// Adds tables of latency, stages and attribution; only that of stages if there are no frames.
void add_run_tables(document& to, const run_record& record, const run_analysis& analysis);

/// Adds those charts of a run for which there is data.
void add_run_charts(document& to, const run_record& record, const run_analysis& analysis);

/// Returns timelines of frames that together fit into `most_numbers` numbers: the median frame and
/// the slowest frames with their neighbors, then evenly spaced frames while there is room.
timeline_chart timeline_of(const run_record& record, std::size_t median,
                           std::size_t most_numbers = 200'000);

/// Describes the cost of a pipeline.
document describe(const cost_summary& summary);

/// Describes a plan: stages in planned order with where they run and what they wait for, the
/// tensors of a frame, and memory. `cores`: number of cores for CPU stages; 0 if unknown.
document describe(const plan& p, const plan_target& target, int cores = 0);

/// Verdicts for `diff`, which replace the tables and figures of two results.
struct judged_tables {
  std::string answer;
  std::vector<document::part> parts;
};
/// Compares two results of one kind: tables by row and column, and facts by name.
document diff(const document& before, const document& after, const std::string& file_before,
              const std::string& file_after, const judged_tables* judged = nullptr);

/// Compares runs, including their outputs.
document diff(const analyzed_run& before, const analyzed_run& after);

/// Compares experiments, with the verdicts of `found`.
document diff(const experiment_record& before, const experiment_record& after,
              const experiment_diff& found);

// Parts that several documents share.

using name_texts = std::vector<std::pair<std::string, std::string>>;

/// Returns the lines of a heading: "two_models on host: NAME (1 compute thread)", then the
/// settings, then frames and `timing`.
std::vector<std::string> heading_of(const run_record& record, std::string_view timing);

/// Adds a failure if a run failed or was interrupted. `which` names it: " under timing layers".
void add_failures(document& to, const run_record& record, const std::string& which);

/// Adds the facts of the device and of its environment.
void add_machine(document& to, const device_properties& device, const name_texts& environment);

/// Adds settings, device, environment and source files of a run. `run`: the settings to show.
void add_origin(document& to, const run_record& record, const settings& run);

/// Returns settings under the names in a record; for a run, only those settings that apply.
std::vector<fact> settings_facts(const settings& run);
std::vector<fact> settings_facts(const experiment_settings& how);

/// Returns a table with a row for each ceiling, including ridge points. `measured`: samples in the
/// order of `figures`, and how they were taken; null if the result does not contain them.
table ceiling_table(const std::vector<ceiling_figure>& figures,
                    const std::vector<ceiling_record>* measured = nullptr,
                    const std::vector<theoretical_peak>& peaks = {});

/// Returns a fact for each pair of name and text.
std::vector<fact> facts_of(const name_texts& pairs);

/// Returns the parameters of a pipeline as the fact "params", with typed numbers and booleans.
fact parameters_fact(const name_texts& given);

}  // namespace graphline::report
