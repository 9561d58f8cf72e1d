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

// A document of each kind of result.

document describe(const run_record& record, const run_analysis& analysis);
document describe(const roofline_record& record, const roofline_analysis& analysis);
document describe(const capacity_record& record, const capacity_analysis& analysis);
document describe(const experiment_record& record, const experiment_analysis& analysis);

/// The same of any of these records by itself.
template <class Record>
document describe(const Record& record) {
  return describe(record, analyze(record));
}

/// What an experiment will do: every configuration with what it is compared with, and how trials
/// are run and when they end. `trial_times`: about how long one of each configuration takes.
document describe(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times);

/// "name: 4 configurations, 10 trials each: about 1 min 20 s".
std::string in_brief(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times);

/// What its trials will be too few for, whatever they measure: verdicts, its tail.
std::vector<std::string> forewarnings(const experiment_plan& planned);

/// What a calibration's document says beside what was measured.
struct calibration_notes {
  std::optional<double> clock_mhz = {};  ///< of the theoretical peaks, where it was given
  std::string kept_in = {};              ///< the file; empty where it is not kept
};
document describe(const calibration_record& record, const calibration_notes& notes = {});

/// Latency, stages, and where the time of frames went; without frames only stages.
void add_run_tables(document& to, const run_record& record, const run_analysis& analysis);

/// The charts of a run of which there is something to draw.
void add_run_charts(document& to, const run_record& record, const run_analysis& analysis);

/// The timelines of as many frames as `most_numbers` of the chart's numbers have room for: the
/// median frame and the slowest ones, each with those around it, and evenly spaced ones.
timeline_chart timeline_of(const run_record& record, std::size_t median,
                           std::size_t most_numbers = 200'000);

/// What a pipeline amounts to.
document describe(const cost_summary& summary);

/// What will happen when a plan runs: stages in order with where they run, what each waits for, the
/// tensors of a frame and its memory. `cores`: for CPU stages, 0 where that is not known.
document describe(const plan& p, const plan_target& target, int cores = 0);

/// What changed between two results of one kind: their tables by row and column, their facts by
/// name, and the lines of the files they were made from.
/// `judged`: what stands in place of the tables and figures, where there are verdicts.
struct judged_tables {
  std::string answer;
  std::vector<document::part> parts;
};
document diff(const document& before, const document& after, const std::string& file_before,
              const std::string& file_after, const judged_tables* judged = nullptr);

/// The same of runs, with what became of their outputs.
document diff(const analyzed_run& before, const analyzed_run& after);

/// With the verdicts of `found`.
document diff(const experiment_record& before, const experiment_record& after,
              const experiment_diff& found);

// What the documents have in common.

using name_texts = std::vector<std::pair<std::string, std::string>>;

/// "two_models on host: NAME (1 compute thread)", then how it ran.
std::vector<std::string> heading_of(const run_record& record, std::string_view timing);

/// What ended a run before its time, as failures; `which` run it was: " under timing layers".
void add_failures(document& to, const run_record& record, const std::string& which);

/// The device and its environment.
void add_machine(document& to, const device_properties& device, const name_texts& environment);

/// Settings, device, environment and files that made a run. `run`: its settings, as they are shown.
void add_origin(document& to, const run_record& record, const settings& run);

/// Settings as a record has them; of a run those that say something in it.
std::vector<fact> settings_facts(const settings& run);
std::vector<fact> settings_facts(const experiment_settings& how);

/// A row for each ceiling, with the ridge points of those that count. `measured`: the samples and
/// how they were made, in the order of the figures; null where a result does not keep them.
table ceiling_table(const std::vector<ceiling_figure>& figures,
                    const std::vector<ceiling_record>* measured = nullptr,
                    const std::vector<theoretical_peak>& peaks = {});

/// Pairs of names and texts.
std::vector<fact> facts_of(const name_texts& pairs);

/// Of a pipeline, as "params" in data: numbers and booleans as such.
fact parameters_fact(const name_texts& given);

}  // namespace graphline::report
