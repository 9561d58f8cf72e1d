#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/diagnostic.hpp"

namespace graphline {

/// Due times of `arrival: trace`.
struct arrival_trace {
  std::vector<nanoseconds> due;  ///< from the start of the load; ascending, not empty
  double mean_gap = 0;           ///< mean time per arrival after the first time; 0 if there is none
};

/// Returns the trace with these times.
/// @pre `due` ascends and is not empty
arrival_trace trace_of(std::vector<nanoseconds> due);

/// Reads a text file with one due time on each line, in seconds. A first line `due_ns`, `due_us`,
/// `due_ms` or `due_s` names another unit. Ignores empty lines. Errors do not quote text that is
/// not a number, because a pipeline may name any file.
/// @return null after an error at `where`
std::shared_ptr<const arrival_trace> read_arrival_trace(const std::string& path, const place& where,
                                                        diagnostics& out);

}  // namespace graphline
