#pragma once

#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/report/document.hpp"

namespace graphline::report {

/// A pipeline of a configuration, and the pair in which it is compared; null where it is not.
struct compared_member {
  configuration_member who;
  const compared_pair* pair = nullptr;
  bool apart = false;  ///< the first of those that are compared with something else
};
using member_columns = std::vector<column_of<compared_member>>;

/// An experiment with what its tables and charts look up in it. Refers to both, which outlive it.
struct experiment_view {
  experiment_view(const experiment_record& record, const experiment_analysis& analysis);

  const member_summary& of(const configuration_member& who) const {
    return summary.configurations[who.configuration].members[who.member];
  }
  bool is_baseline(const configuration_member& who) const;

  /// The rows of comparisons: each baseline with all that is compared with it, then the others.
  std::vector<compared_member> compared() const;

  /// The columns that name a pipeline of a configuration: the pipeline, of several at once, then
  /// the id, or what varies, or the name that was given.
  member_columns names() const;

  /// Whether a table that begins with these columns has a figure or a verdict in others.
  bool has_figures(const table& made) const;

  /// The last of these in one text: "sync 2".
  std::string short_name(const configuration_member& who) const;

  const experiment_record& record;
  const experiment_analysis& analysis;
  const experiment_summary& summary;
  experiment_labels labels;
  bool several_at_once = false;  ///< pipelines in a configuration
};

/// What the ids stand for, and what each configuration is compared with.
table id_table(const experiment_labels& labels, const std::vector<compared_pair>& pairs);

unit unit_of(figure what);

/// The interval of a change.
cell change_cell(const std::optional<interval>& range);

/// In the colors of good and bad news.
cell verdict_cell(verdict what, figure of = figure::p50);

/// What people see in tables.
void add_answer(document& to, const experiment_view& of);
void add_stages(document& to, const experiment_view& of);
void add_costs(document& to, const experiment_view& of);

/// Every figure and comparison, for programs.
void add_data(document& to, const experiment_view& of);

void add_sweep(document& to, const experiment_view& of);
void add_comparisons_chart(document& to, const experiment_view& of);
void add_trials_chart(document& to, const experiment_view& of);

}  // namespace graphline::report
