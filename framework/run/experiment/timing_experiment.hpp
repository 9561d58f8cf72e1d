#pragma once

#include <cstdint>
#include <functional>

#include "framework/run/execute/session.hpp"
#include "framework/run/experiment/experiment.hpp"

namespace graphline {

/// How the timing methods are measured against each other.
struct timing_experiment_options {
  std::int64_t trials = 24;  ///< of each method
  std::int64_t frames = 0;   ///< of a trial; 0: about a quarter of a second of them, 3 to 45
  const stop_request* stop = nullptr;
  std::function<void(const experiment_progress&)> on_progress = {};
};

/// Compares every timing method that makes sense for it with none, on one prepared pipeline: an
/// experiment whose configurations share stages, memory and graphs, so that nothing but the timing
/// differs. The plan's seed is that of the random order.
experiment_record compare_timing_methods(session& s, const timing_experiment_options& options);

}  // namespace graphline
