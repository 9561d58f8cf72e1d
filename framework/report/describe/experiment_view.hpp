#pragma once

#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/report/document.hpp"

namespace graphline::report {

/// A pipeline of a configuration, with the pair that compares it; null if no pair does.
struct compared_member {
  configuration_member who;
  const compared_pair* pair = nullptr;
  bool apart = false;  ///< a gap precedes its row
};
using member_columns = std::vector<column_of<compared_member>>;

/// An experiment, with lookups for tables and charts. @pre `record` and `analysis` outlive this
struct experiment_view {
  experiment_view(const experiment_record& record, const experiment_analysis& analysis);

  const member_summary& of(const configuration_member& who) const {
    return summary.configurations[who.configuration].members[who.member];
  }
  bool is_baseline(const configuration_member& who) const;

  /// Returns the rows of comparisons: each baseline, followed by the pipelines compared with it,
  /// then those that are not compared.
  std::vector<compared_member> compared() const;

  /// Returns the columns that name a pipeline of a configuration: the pipeline, if configurations
  /// contain several, then the id, the given name, or the settings that vary.
  member_columns names() const;

  /// Returns true if a table has a figure or a verdict in any column after those of `names`.
  bool has_figures(const table& made) const;

  /// Returns the columns of `names`, except the pipeline's, as one text: "sync 2".
  std::string short_name(const configuration_member& who) const;

  const experiment_record& record;
  const experiment_analysis& analysis;
  const experiment_summary& summary;
  experiment_labels labels;
  bool several_at_once = false;  ///< whether configurations contain several pipelines
};

/// Returns a table of what each id stands for, and of what each configuration is compared with.
table id_table(const experiment_labels& labels, const std::vector<compared_pair>& pairs);

unit unit_of(figure what);

/// Returns the interval of a change; unknown without `range`.
cell change_cell(const std::optional<interval>& range);

/// Returns the word of a verdict, colored as good news if faster and as bad news if slower.
cell verdict_cell(verdict what, figure of = figure::p50);

/// These add the tables that text and page show.
void add_answer(document& to, const experiment_view& of);
void add_stages(document& to, const experiment_view& of);
void add_costs(document& to, const experiment_view& of);

/// Adds all figures and comparisons to JSON and CSV.
void add_data(document& to, const experiment_view& of);

void add_sweep(document& to, const experiment_view& of);
void add_comparisons_chart(document& to, const experiment_view& of);
void add_trials_chart(document& to, const experiment_view& of);

}  // namespace graphline::report
