#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

/// A pipeline of a configuration, and the pair in which it is compared.
struct experiment_row {
  configuration_member who;
  const compared_pair* pair = nullptr;  ///< null for what is not compared
};

/// What others are compared with, then these; or all that is not compared at all.
using row_group = std::vector<experiment_row>;

/// The rows of an experiment's tables. Refers to the record, which must outlive it.
class experiment_rows {
 public:
  /// Where a look is narrower than names are made for, ids stand for them.
  explicit experiment_rows(const experiment_record& record, const look& as = {});

  /// Rows to be compared: one group for each reference, in order of the configurations.
  std::vector<row_group> groups() const;

  /// Whether others are compared with it.
  bool is_baseline(const configuration_member& who) const;

  /// Every pipeline of every configuration once.
  std::vector<configuration_member> members() const { return labels_.all(); }

  /// The pipeline, of several at once, then the id, or what varies with a value in each row, or the
  /// name that was given. None is ever cut.
  const std::vector<text_table::column>& name_columns() const noexcept { return columns_; }
  std::vector<std::string> name_cells(const configuration_member& who) const;

  /// For where there is room for all: the id, the pipeline, the name that was given and what
  /// varies.
  std::vector<std::string> full_headings() const;
  std::vector<std::string> full_names(const configuration_member& who) const;

  /// What the ids stand for, with what each is compared with; empty where names are used.
  std::string legend(const look& as) const;

  /// Whether there are configurations of several pipelines; the first name column is theirs then.
  bool several_at_once() const noexcept { return several_at_once_; }

  const experiment_labels& labels() const noexcept { return labels_; }

 private:
  /// Of "camera alone", "together", "together without priorities": what the row does not say yet.
  std::string name_beside_pipeline(const experiment_configuration& configuration) const;

  const experiment_record& record_;
  experiment_labels labels_;
  bool by_id_;
  bool several_at_once_ = false;
  std::vector<text_table::column> columns_;
};

/// The names that ids stand for, a row for each configuration: the id, the name where it was given,
/// a column for each thing that varies, then `more` columns: a heading and a cell for each
/// configuration. In lines of text where a table would be too wide.
using legend_column = std::pair<text_table::column, std::vector<std::string>>;
std::string legend_of(const experiment_labels& labels, const std::vector<legend_column>& more,
                      const look& as);

/// What each configuration is compared with, by id; a column of nothing is left out.
std::vector<legend_column> compared_with(const std::vector<compared_pair>& pairs,
                                         std::size_t configurations);

}  // namespace graphline
