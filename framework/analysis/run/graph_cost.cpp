#include "framework/analysis/run/graph_cost.hpp"

#include <algorithm>

namespace graphline {

namespace {

constexpr std::size_t least_repetitions = 3;

/// Quartiles (nearest rank) of repeated times, summed over graphs.
struct quartiles {
  nanoseconds low = 0;
  nanoseconds median = 0;
  nanoseconds high = 0;
};

/// Adds the quartiles of `times`. Returns false and adds nothing if there are too few repetitions.
bool add(quartiles& to, std::vector<nanoseconds> times) {
  const std::size_t n = times.size();
  if (n < least_repetitions) return false;
  std::sort(times.begin(), times.end());
  to.low += times[(n + 3) / 4 - 1];
  to.median += times[(n - 1) / 2];
  to.high += times[(3 * n + 3) / 4 - 1];
  return true;
}

/// Returns the one-time cost of the graphs in ns; empty if unknown.
std::optional<nanoseconds> cost_of(const graph_cost_summary& summary) {
  if (!summary.first_launch) return std::nullopt;
  return summary.capture + summary.instantiate + *summary.first_launch;
}

void compare(graph_cost_summary& summary, const quartiles& launch, const quartiles& eager) {
  using comparison = graph_cost_summary::comparison;
  summary.saving = eager.median - launch.median;
  summary.found = comparison::no_difference;
  if (launch.low > eager.high) summary.found = comparison::costs;
  if (launch.high >= eager.low) return;
  summary.found = comparison::saves;
  if (const auto cost = cost_of(summary)) {
    summary.breaks_even_after = (*cost + *summary.saving - 1) / *summary.saving;
  }
}

}  // namespace

std::optional<nanoseconds> median_of_repetitions(std::vector<nanoseconds> times) {
  quartiles found;
  if (!add(found, std::move(times))) return std::nullopt;
  return found.median;
}

std::optional<graph_cost_summary> graph_cost_of(const run_record& record) {
  if (record.graphs.empty()) return std::nullopt;
  graph_cost_summary summary;
  summary.graphs = record.graphs.size();
  summary.first_launch = 0;
  quartiles launch;
  quartiles eager;
  bool enough = true;
  for (const auto& graph : record.graphs) {
    summary.executables += graph.executables;
    summary.nodes += graph.nodes.size();
    summary.capture += graph.capture;
    summary.instantiate += graph.instantiate;
    const auto later = median_of_repetitions(graph.later_launch);
    if (!later) summary.first_launch.reset();
    if (summary.first_launch) {
      // Times can be negative if the clock was set back.
      const auto usual =
          static_cast<nanoseconds>(graph.executables) * std::max<nanoseconds>(0, *later);
      *summary.first_launch += std::max<nanoseconds>(0, graph.first_launch - usual);
    }
    enough = add(launch, graph.launch) && add(eager, graph.eager) && enough;
  }
  if (enough) compare(summary, launch, eager);
  return summary;
}

}  // namespace graphline
