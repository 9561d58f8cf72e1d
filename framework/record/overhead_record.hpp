#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// One run under one timing method.
struct overhead_trial {
  std::size_t block = 0;  ///< trials of one block ran next to each other, in random order
  run_record record;      ///< `record.run.timing` is the method
};

/// The timing methods measured against each other on one prepared pipeline: blocks of one trial per
/// method, so that slow drift of the machine falls on all methods alike.
struct overhead_record {
  std::vector<timing_method> methods;  ///< in the order they are shown; `none` first
  std::vector<overhead_trial> trials;  ///< in the order they ran; the last block may be incomplete
  std::uint64_t order_seed = 1;        ///< of the random order
  bool interrupted = false;
  /// From before the first trial to after the last; nothing where none was begun.
  std::optional<conditions_record> conditions = {};
};

}  // namespace graphline
