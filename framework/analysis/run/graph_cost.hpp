#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// The median of repetitions; nothing below three of them.
std::optional<nanoseconds> median_of_repetitions(std::vector<nanoseconds> times);

/// What all graphs of a run cost together, and what they spare the host in each frame.
struct graph_cost_summary {
  std::size_t graphs = 0;
  std::size_t executables = 0;
  std::size_t nodes = 0;
  nanoseconds capture = 0;
  nanoseconds instantiate = 0;
  /// What first launches took beyond later ones; nothing when too few later ones were measured.
  std::optional<nanoseconds> first_launch;

  /// Whether launching is quicker for the host than enqueueing operation by operation: only said
  /// where the middle halves of the repetitions lie apart.
  enum class comparison { too_few, no_difference, saves, costs };
  comparison found = comparison::too_few;
  std::optional<nanoseconds> saving;       ///< of a frame, by the medians; below zero: it costs
  std::optional<std::int64_t> paid_after;  ///< frames; where launching saves
};

/// Nothing for a run without graphs.
std::optional<graph_cost_summary> graph_cost_of(const run_record& record);

}  // namespace graphline
