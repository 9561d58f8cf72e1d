#include "framework/analysis/experiment/experiment_labels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphline {

namespace {

using assignment_list = std::vector<std::pair<std::string, std::string>>;

/// Formats assignments like the names that the experiment reader generates.
std::string joined(const assignment_list& assignments) {
  std::string text;
  for (const auto& [key, value] : assignments) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text;
}

/// Returns the value that a configuration assigns to `key`; empty if it assigns none.
std::string value_of(const experiment_configuration& configuration, const std::string& key) {
  const auto found = std::ranges::find(configuration.assignments, key,
                                       &std::pair<std::string, std::string>::first);
  return found == configuration.assignments.end() ? "" : found->second;
}

}  // namespace

experiment_labels::experiment_labels(const std::vector<experiment_configuration>& configurations)
    : configurations_(configurations) {
  constexpr std::size_t longest = 26;
  for (const auto& c : configurations_) {
    for (const auto& [key, value] : c.assignments) {
      if (std::ranges::find(keys_, key) == keys_.end()) keys_.push_back(key);
    }
  }
  for (const auto& c : configurations_) {
    named_ = named_ || c.name != joined(c.assignments) || c.assignments.size() != keys_.size();
  }
  std::erase_if(keys_, [&](const std::string& key) {
    return std::ranges::all_of(configurations_, [&](const auto& c) {
      return value_of(c, key) == value_of(configurations_.front(), key);
    });
  });
  named_ = named_ || keys_.empty();
  by_id_ = many() && (named_ || keys_.size() > 1);
  for (std::size_t c = 0; c < configurations_.size(); ++c) {
    by_id_ = by_id_ || (named_ ? configurations_[c].name : varied(c)).size() > longest;
  }
}

std::string experiment_labels::id(std::size_t configuration) {
  return fmt::format("c{}", configuration + 1);
}

std::vector<std::string> experiment_labels::values(std::size_t configuration) const {
  std::vector<std::string> result;
  for (const auto& key : keys_) result.push_back(value_of(configurations_[configuration], key));
  return result;
}

std::string experiment_labels::varied(std::size_t configuration) const {
  assignment_list shown;
  for (const auto& key : keys_) {
    shown.emplace_back(key, value_of(configurations_[configuration], key));
  }
  return joined(shown);
}

std::string experiment_labels::of(std::size_t configuration) const {
  if (by_id_) return id(configuration);
  return named_ ? fmt::format("'{}'", configurations_[configuration].name) : varied(configuration);
}

std::string experiment_labels::of(const configuration_member& what) const {
  const auto& [name, assignments, members] = configurations_[what.configuration];
  if (members.size() < 2) return of(what.configuration);
  return fmt::format("'{} ({})'", members[what.member], by_id_ ? id(what.configuration) : name);
}

std::vector<configuration_member> experiment_labels::all() const {
  std::vector<configuration_member> result;
  for (std::size_t c = 0; c < configurations_.size(); ++c) {
    for (std::size_t m = 0; m < configurations_[c].members.size(); ++m) {
      result.push_back({c, m});
    }
  }
  return result;
}

std::string experiment_labels::list(const std::vector<configuration_member>& which) const {
  if (which.size() > 1 && which.size() == all().size()) return "all configurations";
  std::vector<std::string> names;
  for (const auto& what : which) names.push_back(of(what));
  return listed(names);
}

std::string listed(const std::vector<std::string>& items, std::size_t most) {
  // Show one more item instead of "and 1 more".
  const std::size_t shown = items.size() > most + 1 ? most : items.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == items.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", items[i]);
  }
  if (shown < items.size()) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

}  // namespace graphline
