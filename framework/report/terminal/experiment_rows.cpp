#include "framework/report/terminal/experiment_rows.hpp"

#include <algorithm>
#include <cctype>

namespace graphline {

namespace {

constexpr auto left = text_table::align::left;
constexpr auto number = text_table::align::number;
constexpr std::size_t value_width = 20;
constexpr std::size_t name_width = 28;
constexpr std::size_t least = 8;

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
      value_width_(as.room(value_width)),
      name_width_(as.room(name_width)),
      labels_(record) {
  several_at_once_ =
      std::any_of(record.configurations.begin(), record.configurations.end(),
                  [](const experiment_configuration& c) { return c.members.size() > 1; });
  if (several_at_once_) columns_.push_back({"pipeline", left, least});
  for (std::size_t i = 0; i < labels_.keys().size(); ++i) {
    bool numbers = true;
    for (std::size_t c = 0; c < record.configurations.size(); ++c) {
      numbers = numbers && is_number(labels_.values(c)[i]);
    }
    columns_.push_back(
        {table_name(labels_.keys()[i], value_width_), numbers ? number : left, least});
  }
  if (labels_.keys().empty()) columns_.push_back({"configuration", left, least});
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

std::vector<std::string> experiment_rows::name_headings() const {
  std::vector<std::string> headings;
  if (several_at_once_) headings.push_back("pipeline");
  for (const auto& key : labels_.keys()) headings.push_back(key);
  if (labels_.keys().empty()) headings.push_back("configuration");
  return headings;
}

std::vector<std::string> experiment_rows::full_names(const configuration_member& who) const {
  const auto& configuration = record_.configurations[who.configuration];
  std::vector<std::string> names;
  if (several_at_once_) names.push_back(configuration.members[who.member]);
  for (const auto& value : labels_.values(who.configuration)) names.push_back(value);
  if (labels_.keys().empty()) {
    names.push_back(several_at_once_ ? name_beside_pipeline(configuration) : configuration.name);
  }
  return names;
}

std::vector<std::string> experiment_rows::name_cells(const configuration_member& who) const {
  auto cells = full_names(who);
  // The last one is the only one where configurations have names of their own.
  const bool named = labels_.keys().empty();
  for (auto& cell : cells) {
    const bool own_name = named && &cell == &cells.back();
    cell = table_name(cell, own_name ? name_width_ : value_width_);
  }
  return cells;
}

}  // namespace graphline
