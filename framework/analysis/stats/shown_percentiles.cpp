#include "framework/analysis/stats/shown_percentiles.hpp"

#include <fmt/format.h>

namespace graphline {

std::span<const std::pair<std::string_view, double>> percentiles_of_table(const distribution& of) {
  const std::span all(shown_percentiles);
  return of.percentile(all.back().second) ? all : all.first(all.size() - 1);
}

std::string why_absent(const distribution& of) {
  if (!of.why_unsettled().empty()) return of.why_unsettled();
  std::string missing;
  for (const auto& [name, p] : percentiles_of_table(of)) {
    if (of.percentile(p)) continue;
    missing += fmt::format("{}{} needs {}", missing.empty() ? "too few frames: " : ", ", name,
                           samples_needed(p));
  }
  return missing;
}

}  // namespace graphline
