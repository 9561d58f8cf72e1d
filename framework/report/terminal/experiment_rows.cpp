#include "framework/report/terminal/experiment_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

using enum text_table::align;
constexpr std::size_t narrowest = 80;  // in which names have room

bool is_number(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
}

bool is_compared(const experiment_record& record, const configuration_member& who) {
  return std::any_of(record.pairs.begin(), record.pairs.end(),
                     [&](const compared_pair& pair) { return pair.what == who; });
}

}  // namespace

experiment_rows::experiment_rows(const experiment_record& record, const look& as)
    : record_(record),
      labels_(record.configurations),
      by_id_(labels_.by_id() || as.width < narrowest) {
  several_at_once_ =
      std::any_of(record.configurations.begin(), record.configurations.end(),
                  [](const experiment_configuration& c) { return c.members.size() > 1; });
  if (several_at_once_) columns_.push_back({"pipeline", left});
  if (by_id_) {
    columns_.push_back({"id", left});
  } else if (labels_.named()) {
    columns_.push_back({"configuration", left});
  } else {
    for (std::size_t i = 0; i < labels_.keys().size(); ++i) {
      bool numbers = true;
      for (std::size_t c = 0; c < record.configurations.size(); ++c) {
        numbers = numbers && is_number(labels_.values(c)[i]);
      }
      columns_.push_back({printable(labels_.keys()[i]), numbers ? number : left});
    }
  }
  // As wide as they are: never cut, and repeated where a table goes on below itself.
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (const auto& who : members()) {
      columns_[i].least = std::max(columns_[i].least, text_width(name_cells(who)[i]));
    }
  }
}

bool experiment_rows::is_baseline(const configuration_member& who) const {
  return std::any_of(record_.pairs.begin(), record_.pairs.end(),
                     [&](const compared_pair& pair) { return pair.reference == who; });
}

std::vector<row_group> experiment_rows::groups() const {
  std::vector<row_group> result;
  row_group others;
  for (const auto& who : members()) {
    if (is_baseline(who)) {
      auto& group = result.emplace_back();
      group.push_back({who, nullptr});
      for (const auto& pair : record_.pairs) {
        if (pair.reference == who) group.push_back({pair.what, &pair});
      }
    } else if (!is_compared(record_, who)) {
      others.push_back({who, nullptr});
    }
  }
  if (!others.empty()) result.push_back(std::move(others));
  return result;
}

std::string experiment_rows::name_beside_pipeline(
    const experiment_configuration& configuration) const {
  if (configuration.members.size() == 1) return "alone";
  for (const auto& other : record_.configurations) {
    const auto beginning = other.name + " ";
    if (configuration.name.starts_with(beginning)) {
      return configuration.name.substr(beginning.size());
    }
  }
  return configuration.name;
}

std::vector<std::string> experiment_rows::name_cells(const configuration_member& who) const {
  const auto& configuration = record_.configurations[who.configuration];
  std::vector<std::string> cells;
  if (several_at_once_) cells.push_back(printable(configuration.members[who.member]));
  if (by_id_) {
    cells.push_back(labels_.id(who.configuration));
  } else if (labels_.named()) {
    cells.push_back(
        printable(several_at_once_ ? name_beside_pipeline(configuration) : configuration.name));
  } else {
    for (const auto& value : labels_.values(who.configuration)) cells.push_back(printable(value));
  }
  return cells;
}

std::vector<std::string> experiment_rows::full_headings() const {
  std::vector<std::string> headings;
  if (several_at_once_) headings.push_back("pipeline");
  if (by_id_) headings.push_back("id");
  if (labels_.named()) headings.push_back("configuration");
  if (by_id_ || !labels_.named()) {
    headings.insert(headings.end(), labels_.keys().begin(), labels_.keys().end());
  }
  return headings;
}

std::vector<std::string> experiment_rows::full_names(const configuration_member& who) const {
  const auto& configuration = record_.configurations[who.configuration];
  std::vector<std::string> names;
  if (several_at_once_) names.push_back(configuration.members[who.member]);
  if (by_id_) names.push_back(labels_.id(who.configuration));
  if (labels_.named()) {
    names.push_back(several_at_once_ ? name_beside_pipeline(configuration) : configuration.name);
  }
  if (by_id_ || !labels_.named()) {
    for (auto& value : labels_.values(who.configuration)) names.push_back(std::move(value));
  }
  return names;
}

std::string experiment_rows::legend(const look& as) const {
  if (!by_id_) return "";
  return legend_of(labels_, compared_with(record_.pairs, record_.configurations.size()), as);
}

std::vector<legend_column> compared_with(const std::vector<compared_pair>& pairs,
                                         std::size_t configurations) {
  std::vector<std::string> cells(configurations);
  for (const auto& pair : pairs) {
    auto& cell = cells[pair.what.configuration];
    const auto id = experiment_labels::id(pair.reference.configuration);
    if (!cell.ends_with(id)) cell += (cell.empty() ? "" : ", ") + id;
  }
  for (const auto& pair : pairs) {
    auto& cell = cells[pair.reference.configuration];
    if (cell.empty()) cell = "baseline";
  }
  if (pairs.empty()) return {};
  return {{{"compared with", left}, std::move(cells)}};
}

std::string legend_of(const experiment_labels& labels, const std::vector<legend_column>& more,
                      const look& as) {
  std::vector<text_table::column> columns = {{"id", left}};
  if (labels.named()) columns.push_back({"configuration", left});
  for (const auto& key : labels.keys()) columns.push_back({printable(key), left});
  for (const auto& column : more) columns.push_back(column.first);
  text_table table(columns);
  std::string lines;
  for (std::size_t c = 0; c < labels.size(); ++c) {
    std::vector<std::string> cells = {labels.id(c)};
    if (labels.named()) cells.push_back(printable(labels.name(c)));
    for (const auto& value : labels.values(c)) {
      cells.push_back(value.empty() ? "-" : printable(value));
    }
    for (const auto& column : more) cells.push_back(column.second[c]);
    std::string line = cells.front();
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].empty() || cells[i] == "-") continue;
      const auto& heading = columns[i].heading;
      line += fmt::format("  {}", cells[i] == "baseline" ? cells[i] : heading + ": " + cells[i]);
    }
    lines += paragraph(line, 4, as);
    table.add_row(std::move(cells));
  }
  return table.width() <= as.width ? table.text(as) : lines;
}

}  // namespace graphline
