#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "framework/analysis/gate.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

gate parse_gate(std::string_view text, gated what) {
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("--fail-if {}: {}", quote(text, 200), why));
  };
  const bool of_run = what == gated::run;
  const auto greater = text.find('>');
  if (greater == text.npos) {
    refuse(fmt::format("expected METRIC > LIMIT, in quotes for the shell: '{}'",
                       of_run ? "p99>20ms" : "slower>5%"));
  }
  std::vector<std::string> of_runs;
  for (const auto& [name, p] : shown_percentiles) of_runs.emplace_back(name);
  of_runs.insert(of_runs.end(), {"mean", "max", "late"});
  const std::vector<std::string> of_comparisons{"slower", "late"};
  const auto& known = of_run ? of_runs : of_comparisons;
  const auto& others = of_run ? of_comparisons : of_runs;
  const std::string metric(trimmed(text.substr(0, greater)));
  const std::string limit(trimmed(text.substr(greater + 1)));
  const bool is_known = std::ranges::find(known, metric) != known.end();
  if (!is_known && std::ranges::find(others, metric) != others.end()) {
    refuse(fmt::format("{} is a metric of {} (known here: {})", quote(metric),
                       of_run ? "'compare' and 'diff'" : "'run'", fmt::join(known, ", ")));
  }
  if (!is_known) {
    refuse(fmt::format("unknown metric {}{}", quote(metric), suggestion(metric, known)));
  }
  gate result{metric + '>' + limit, metric, 0};
  if (of_run && metric != "late") {
    const auto time = parse_duration(limit).value_or(0);
    if (time <= 0) {
      refuse(
          fmt::format("expected a time above zero with its unit, ns, us, ms or s, after '>', "
                      "found {}: {}>20ms",
                      quote(limit), metric));
    }
    result.limit = static_cast<double>(time);
    return result;
  }
  if (metric == "late" && !of_run) {
    constexpr std::string_view points = "points";
    const auto number = limit.ends_with(points)
                            ? parse_percent(limit.substr(0, limit.size() - points.size()) + '%')
                            : std::nullopt;
    if (!number || *number >= 1) {
      refuse(fmt::format("expected percentage points below 100 after '>', found {}: late>2points",
                         quote(limit)));
    }
    result.limit = *number;
    return result;
  }
  const auto part = parse_percent(limit).value_or(-1);
  if (part < 0 || (of_run && part >= 1)) {
    refuse(fmt::format("expected a percentage{} after '>', found {}: {}>5%",
                       of_run ? " below 100%" : "", quote(limit), metric));
  }
  result.limit = part;
  return result;
}

}  // namespace graphline
