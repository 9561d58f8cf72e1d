#include "framework/report/describe/experiment_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace graphline::report {

experiment_view::experiment_view(const experiment_record& of, const experiment_analysis& with)
    : record(of), analysis(with), summary(with.summary), labels(of.configurations) {
  several_at_once = std::ranges::any_of(of.configurations, [](const auto& configuration) {
    return configuration.members.size() > 1;
  });
}

bool experiment_view::is_baseline(const configuration_member& who) const {
  return std::ranges::find(record.pairs, who, &compared_pair::reference) != record.pairs.end();
}

std::vector<std::vector<compared_member>> experiment_view::groups() const {
  std::vector<std::vector<compared_member>> result;
  std::vector<compared_member> others;
  for (const auto& who : labels.all()) {
    if (is_baseline(who)) {
      auto& group = result.emplace_back();
      group.push_back({who});
      for (const auto& pair : record.pairs) {
        if (pair.reference == who) group.push_back({pair.what, &pair});
      }
    } else if (std::ranges::find(record.pairs, who, &compared_pair::what) == record.pairs.end()) {
      others.push_back({who});
    }
  }
  if (!others.empty()) result.push_back(std::move(others));
  return result;
}

std::vector<column> experiment_view::name_columns() const {
  std::vector<column> columns;
  if (several_at_once) columns.push_back({"pipeline", "pipeline"});
  if (labels.by_id()) {
    columns.push_back({"id", "id"});
  } else if (labels.named()) {
    columns.push_back({"configuration", "configuration"});
  } else {
    for (const auto& key : labels.keys()) columns.push_back({key, key});
  }
  return columns;
}

std::vector<cell> experiment_view::name_cells(const configuration_member& who) const {
  std::vector<cell> cells;
  if (several_at_once)
    cells.push_back(record.configurations[who.configuration].members[who.member]);
  if (labels.by_id()) {
    cells.push_back(experiment_labels::id(who.configuration));
  } else if (labels.named()) {
    cells.push_back(labels.name(who.configuration));
  } else {
    for (const auto& value : labels.values(who.configuration)) cells.push_back(value);
  }
  return cells;
}

std::string experiment_view::short_name(const configuration_member& who) const {
  std::string text;
  const auto cells = name_cells(who);
  for (std::size_t i = several_at_once ? 1 : 0; i < cells.size(); ++i) {
    text += (text.empty() ? "" : " ") + shown_value(cells[i]);
  }
  return text;
}

table id_table(const experiment_labels& labels, const std::vector<compared_pair>& pairs) {
  table made{"ids", "Configurations", "id", "", {{"id", "id"}}, {}, shown};
  if (labels.named()) made.columns.push_back({"name", "configuration"});
  for (const auto& key : labels.keys()) made.columns.push_back({key, key});
  made.columns.push_back({"compared_with", "compared with"});
  for (std::size_t c = 0; c < labels.size(); ++c) {
    row line{{experiment_labels::id(c)}};
    if (labels.named()) line.cells.push_back(labels.name(c));
    for (const auto& value : labels.values(c)) {
      line.cells.push_back(value.empty() ? cell() : cell(value));
    }
    std::vector<std::string> references;
    bool baseline = false;
    for (const auto& [what, reference] : pairs) {
      auto id = experiment_labels::id(reference.configuration);
      const bool is_new = std::ranges::find(references, id) == references.end();
      if (what.configuration == c && is_new) references.push_back(std::move(id));
      baseline = baseline || reference.configuration == c;
    }
    line.cells.push_back(!references.empty() ? cell(fmt::format("{}", fmt::join(references, ", ")))
                         : baseline          ? cell("baseline")
                                             : cell());
    made.rows.push_back(std::move(line));
  }
  return made;
}

}  // namespace graphline::report
