#include "framework/analysis/experiment_labels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphline {

namespace {

using assignment_list = std::vector<std::pair<std::string, std::string>>;

/// As the reader of experiments makes a name of what varies.
std::string joined(const assignment_list& assignments) {
  std::string text;
  for (const auto& [key, value] : assignments) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text;
}

bool same_keys(const assignment_list& a, const assignment_list& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

}  // namespace

experiment_labels::experiment_labels(const experiment_record& record) : record_(record) {
  if (record.configurations.empty()) return;
  const auto& first = record.configurations.front().assignments;
  const auto made = [&](const experiment_configuration& c) {
    return c.name == joined(c.assignments) && same_keys(c.assignments, first);
  };
  if (!std::all_of(record.configurations.begin(), record.configurations.end(), made)) return;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto shared = [&](const experiment_configuration& c) {
      return c.assignments[i].second == first[i].second;
    };
    if (std::all_of(record.configurations.begin(), record.configurations.end(), shared)) continue;
    varied_.push_back(i);
    keys_.push_back(first[i].first);
  }
}

std::vector<std::string> experiment_labels::values(std::size_t configuration) const {
  std::vector<std::string> result;
  for (const auto i : varied_) {
    result.push_back(record_.configurations[configuration].assignments[i].second);
  }
  return result;
}

std::string experiment_labels::of(std::size_t configuration) const {
  if (keys_.empty()) return fmt::format("'{}'", record_.configurations[configuration].name);
  assignment_list shown;
  for (const auto i : varied_) {
    shown.push_back(record_.configurations[configuration].assignments[i]);
  }
  return joined(shown);
}

std::string experiment_labels::of(const configuration_member& what) const {
  const auto& members = record_.configurations[what.configuration].members;
  if (members.size() < 2) return of(what.configuration);
  return fmt::format("'{} ({})'", members[what.member],
                     record_.configurations[what.configuration].name);
}

std::vector<configuration_member> experiment_labels::all() const {
  std::vector<configuration_member> result;
  for (std::size_t c = 0; c < record_.configurations.size(); ++c) {
    for (std::size_t m = 0; m < record_.configurations[c].members.size(); ++m) {
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

std::string experiment_labels::where(const std::vector<configuration_member>& which) const {
  const bool everywhere = which.size() > 1 && which.size() == all().size();
  return (everywhere ? "in " : "with ") + list(which);
}

std::string listed(const std::vector<std::string>& items, std::size_t most) {
  // The one item that "and 1 more" would leave out takes no more room than that.
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
