#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/report/document.hpp"

namespace graphline::report {

/// A pipeline of a configuration. `pair`: its comparison; null if it is compared with nothing.
struct compared_member {
  configuration_member who;
  const compared_pair* pair = nullptr;
  bool apart = false;  ///< a gap precedes its row
};
using member_columns = std::vector<column_of<compared_member>>;

/// An experiment, with lookups for tables and charts. `record` and `analysis` must outlive it.
struct experiment_view {
  experiment_view(const experiment_record& record, const experiment_analysis& analysis);

  const member_summary& of(const configuration_member& who) const {
    return summary.configurations[who.configuration].members[who.member];
  }
  bool is_baseline(const configuration_member& who) const;

  /// Returns each baseline followed by the pipelines compared with it, then the pipelines that are
  /// not compared.
  std::vector<compared_member> compared() const;

  /// Returns the columns that identify a pipeline of a configuration: the pipeline's name if
  /// configurations contain several, then the configuration's id, name or varied settings.
  member_columns names() const;

  /// Returns true if any column after those of `names` contains a number or a verdict.
  bool has_figures(const table& made) const;

  /// Returns the columns of `names` as one text, without the pipeline's name: "sync 2".
  std::string short_name(const configuration_member& who) const;

  const experiment_record& record;
  const experiment_analysis& analysis;
  const experiment_summary& summary;
  experiment_labels labels;
  bool several_at_once = false;  ///< whether configurations contain several pipelines
};

/// Name and runs of a pipeline of a set.
using member_runs = std::pair<std::string, std::vector<const run_record*>>;

/// Returns what runs concurrently: the device, then a line for each pipeline with the settings that
/// all of its runs share, except `varied`.
std::vector<std::string> set_heading(const std::vector<member_runs>& members, sharing share,
                                     std::optional<nanoseconds> horizon,
                                     const std::set<std::string>& varied);

/// Returns a table of the ids: the meaning of each, and what its configuration is compared with.
table id_table(const experiment_labels& labels, const std::vector<compared_pair>& pairs);

/// Returns a table of comparisons for JSON and CSV, after `columns` that say what is compared.
table comparison_table(std::string key, std::vector<column_of<comparison>> columns,
                       const std::vector<comparison>& list);

unit unit_of(figure what);

/// Returns the interval of a change; unknown if `range` is empty.
cell change_cell(const std::optional<interval>& range);

/// Returns the word of a verdict, colored as good if faster and as bad if slower.
cell verdict_cell(verdict what, figure of = figure::p50);

/// Adds the answer of a search, if the experiment confirms one.
void add_search(document& to, const experiment_view& of);

/// Add the tables for the text and page reports.
void add_answer(document& to, const experiment_view& of);
void add_stages(document& to, const experiment_view& of);
/// Adds the shares of frames and the numbers of rows of stages, if they differ.
void add_rows(document& to, const experiment_view& of);
/// Adds the data age and the reaction time of chains, and their comparisons.
void add_chains(document& to, const experiment_view& of);
void add_costs(document& to, const experiment_view& of);

/// Adds what each rank of an experiment under MPI ran; nothing without MPI.
void add_ranks(document& to, const experiment_view& of);
/// Adds the deadlines of stages, the waits of ready stages, and what held pipelines that share.
void add_waits(document& to, const experiment_view& of);

/// Adds all figures and comparisons for JSON and CSV.
void add_data(document& to, const experiment_view& of);

void add_sweep(document& to, const experiment_view& of);
void add_comparisons_chart(document& to, const experiment_view& of);
void add_trials_chart(document& to, const experiment_view& of);

}  // namespace graphline::report
