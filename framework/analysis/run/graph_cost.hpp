#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns the lower median of at least three repetitions; empty for fewer.
std::optional<nanoseconds> median_of_repetitions(std::vector<nanoseconds> times);

/// Total cost of the graphs of a run, and the host time that they save per frame.
struct graph_cost_summary {
  std::size_t graphs = 0;
  std::size_t executables = 0;
  std::size_t nodes = 0;
  nanoseconds capture = 0;
  nanoseconds instantiate = 0;
  std::size_t bucket_graphs = 0;  ///< graphs of buckets
  nanoseconds bucket_setup = 0;   ///< to capture and instantiate these graphs
  /// Time by which first launches exceeded later launches; empty with too few later launches.
  std::optional<nanoseconds> first_launch;

  /// Host time of a graph launch compared with enqueueing each operation. `saves` and `costs`
  /// require that the interquartile ranges of the repetitions do not overlap.
  enum class comparison { too_few, no_difference, saves, costs };
  comparison found = comparison::too_few;
  std::optional<nanoseconds> saving;  ///< per frame, from medians; negative if launching costs more
  std::optional<std::int64_t>
      breaks_even_after;  ///< frames until the graphs pay off; set with `saves`
};

/// Returns the cost of a run's graphs; empty without graphs.
std::optional<graph_cost_summary> graph_cost_of(const run_record& record);

}  // namespace graphline
