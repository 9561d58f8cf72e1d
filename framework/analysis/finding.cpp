#include "framework/analysis/finding.hpp"

namespace graphline {

finding::finding(std::string_view its_key, finding_severity severity,
                 std::vector<std::string> about)
    : key(its_key), how(severity), subjects(std::move(about)) {}

finding& finding::with(std::string_view name, figure value) {
  figures.emplace_back(name, std::move(value));
  return *this;
}

finding& finding::with(std::string_view name, const std::optional<double>& value, unit in) {
  return value ? with(name, quantity{*value, in}) : *this;
}

const finding::figure* finding::find(std::string_view name) const {
  for (const auto& [own, value] : figures) {
    if (own == name) return &value;
  }
  return nullptr;
}

void add_warnings(std::vector<finding>& to, const std::vector<std::string>& written) {
  for (const auto& text : written) {
    to.push_back(finding{"", finding_severity::warning}.with("text", text));
  }
}

}  // namespace graphline
