#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/analysis/experiment_labels.hpp"
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
  explicit experiment_rows(const experiment_record& record, const look& as = {});

  /// Rows to be compared: one group for each reference, in order of the configurations.
  std::vector<row_group> groups() const;

  /// Whether others are compared with it.
  bool is_baseline(const configuration_member& who) const;

  /// Every pipeline of every configuration once.
  std::vector<configuration_member> members() const { return labels_.all(); }

  /// What varies, with a value in each row; where names were given, these.
  const std::vector<text_table::column>& name_columns() const noexcept { return columns_; }
  std::vector<std::string> name_cells(const configuration_member& who) const;

  /// Headings and cells of the names at their full length.
  std::vector<std::string> name_headings() const;
  std::vector<std::string> full_names(const configuration_member& who) const;

  /// Whether there are configurations of several pipelines; the first name column is theirs then.
  bool several_at_once() const noexcept { return several_at_once_; }

  const experiment_labels& labels() const noexcept { return labels_; }

 private:
  /// Of "camera alone", "together", "together without priorities": what the row does not say yet.
  std::string name_beside_pipeline(const experiment_configuration& configuration) const;

  const experiment_record& record_;
  std::size_t value_width_;
  std::size_t name_width_;
  experiment_labels labels_;
  bool several_at_once_ = false;
  std::vector<text_table::column> columns_;
};

}  // namespace graphline
