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

/// The plan of an experiment: configurations with their references, and how trials run and end.
/// `trial_times`: about how long a trial of each configuration takes.
document describe(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times);

/// "name: 4 configurations, 10 trials each: about 1 min 20 s".
std::string in_brief(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times);

/// What its trials are too few for in any case: verdicts, its tail.
std::vector<std::string> forewarnings(const experiment_plan& planned);

/// Facts of a calibration's document that its record does not hold.
struct calibration_notes {
  std::optional<double> clock_mhz = {};  ///< clock of the theoretical peaks, if given
  std::string kept_in = {};              ///< file; empty if not stored
};
document describe(const calibration_record& record, const calibration_notes& notes = {});

/// Latency, stages and attribution; without frames only stages.
void add_run_tables(document& to, const run_record& record, const run_analysis& analysis);

/// The charts of a run that have data.
void add_run_charts(document& to, const run_record& record, const run_analysis& analysis);

/// Timelines of as many frames as fit into `most_numbers` numbers of the chart: the median and the
/// slowest frames with their neighbors, and evenly spaced ones.
timeline_chart timeline_of(const run_record& record, std::size_t median,
                           std::size_t most_numbers = 200'000);

/// Cost of a pipeline.
document describe(const cost_summary& summary);

/// A plan: stages in order with where they run and what they wait for, the tensors of a frame, and
/// memory. `cores`: for CPU stages; 0 if unknown.
document describe(const plan& p, const plan_target& target, int cores = 0);

/// Changes between two results of one kind: tables by row and column, facts by name, and lines of
/// source files. `judged` replaces tables and figures if there are verdicts.
struct judged_tables {
  std::string answer;
  std::vector<document::part> parts;
};
document diff(const document& before, const document& after, const std::string& file_before,
              const std::string& file_after, const judged_tables* judged = nullptr);

/// Compares runs, including their outputs.
document diff(const analyzed_run& before, const analyzed_run& after);

/// Compares experiments, with the verdicts of `found`.
document diff(const experiment_record& before, const experiment_record& after,
              const experiment_diff& found);

// Common parts of documents.

using name_texts = std::vector<std::pair<std::string, std::string>>;

/// "two_models on host: NAME (1 compute thread)", then how it ran.
std::vector<std::string> heading_of(const run_record& record, std::string_view timing);

/// Adds failures for what ended a run early. `which` names the run: " under timing layers".
void add_failures(document& to, const run_record& record, const std::string& which);

/// The device and its environment.
void add_machine(document& to, const device_properties& device, const name_texts& environment);

/// Settings, device, environment and source files of a run. `run`: settings as shown.
void add_origin(document& to, const run_record& record, const settings& run);

/// Settings as in a record; for a run only those that apply.
std::vector<fact> settings_facts(const settings& run);
std::vector<fact> settings_facts(const experiment_settings& how);

/// A row for each ceiling, with ridge points. `measured`: samples and how they were taken, in the
/// order of the figures; null if the result does not hold them.
table ceiling_table(const std::vector<ceiling_figure>& figures,
                    const std::vector<ceiling_record>* measured = nullptr,
                    const std::vector<theoretical_peak>& peaks = {});

/// Pairs of names and texts.
std::vector<fact> facts_of(const name_texts& pairs);

/// Parameters of a pipeline, "params" in data, with typed numbers and booleans.
fact parameters_fact(const name_texts& given);

}  // namespace graphline::report
