#include "framework/analysis/run/graph_cost.hpp"

#include <algorithm>
#include <cmath>

#include "framework/analysis/run/rows.hpp"
#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

namespace {

constexpr std::size_t least_repetitions = 3;

/// Quartiles (nearest rank) of repeated times, summed over graphs.
struct quartiles {
  double low = 0;
  double median = 0;
  double high = 0;
};

/// Adds the quartiles of `times`, multiplied by `weight`. Returns false and adds nothing if there
/// are too few repetitions.
bool add(quartiles& to, std::vector<nanoseconds> times, double weight) {
  const std::size_t n = times.size();
  if (n < least_repetitions) return false;
  std::sort(times.begin(), times.end());
  to.low += weight * static_cast<double>(times[(n + 3) / 4 - 1]);
  to.median += weight * static_cast<double>(times[(n - 1) / 2]);
  to.high += weight * static_cast<double>(times[(3 * n + 3) / 4 - 1]);
  return true;
}

/// Returns the fraction of frames that launched the graph.
double launched_in(const run_record& record, const graph_record& graph) {
  if (properties_of(record.run).one_launch) return 1;
  const auto stage = std::ranges::find(record.stages, graph.name, &stage_record::name);
  if (stage == record.stages.end() || stage->rows.empty()) return 1;
  const auto bucket = std::ranges::find(stage->buckets, graph.rows, &bucket_record::rows);
  const auto index = bucket == stage->buckets.end() ? 0 : bucket - stage->buckets.begin();
  return static_cast<double>(frames_by_bucket(*stage)[static_cast<std::size_t>(index)]) /
         static_cast<double>(stage->rows.size());
}

/// Returns the one-time cost of the graphs in ns; empty if unknown.
std::optional<nanoseconds> cost_of(const graph_cost_summary& summary) {
  if (!summary.first_launch) return std::nullopt;
  return summary.capture + summary.instantiate + *summary.first_launch;
}

void compare(graph_cost_summary& summary, const quartiles& launch, const quartiles& eager) {
  using comparison = graph_cost_summary::comparison;
  summary.saving = std::llround(eager.median - launch.median);
  summary.found = comparison::no_difference;
  if (launch.low > eager.high) summary.found = comparison::costs;
  if (launch.high >= eager.low) return;
  summary.found = comparison::saves;
  if (const auto cost = cost_of(summary); cost && *summary.saving > 0) {
    summary.breaks_even_after = (*cost + *summary.saving - 1) / *summary.saving;
  }
}

}  // namespace

std::optional<nanoseconds> median_of_repetitions(std::vector<nanoseconds> times) {
  quartiles found;
  if (!add(found, std::move(times), 1)) return std::nullopt;
  return static_cast<nanoseconds>(found.median);
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
    if (graph.rows > 0) {
      ++summary.bucket_graphs;
      summary.bucket_setup += graph.capture + graph.instantiate;
    }
    const auto later = median_of_repetitions(graph.later_launch);
    if (!later) summary.first_launch.reset();
    if (summary.first_launch) {
      // Times can be negative if the clock was set back.
      const auto usual =
          static_cast<nanoseconds>(graph.executables) * std::max<nanoseconds>(0, *later);
      *summary.first_launch += std::max<nanoseconds>(0, graph.first_launch - usual);
    }
    const double weight = launched_in(record, graph);
    enough = add(launch, graph.launch, weight) && add(eager, graph.eager, weight) && enough;
  }
  if (enough) compare(summary, launch, eager);
  return summary;
}

}  // namespace graphline
