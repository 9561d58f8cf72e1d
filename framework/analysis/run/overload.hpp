#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Frames arrived faster than they were completed.
struct overload {
  double offered = 0;            ///< arrivals per second, including frames not completed
  double completed = 0;          ///< completions per second
  std::size_t dropped = 0;       ///< frames
  std::optional<double> growth;  ///< latency growth in ns per second; empty if drops bound it
};

/// Reason why the latency of an overloaded run is not representative.
inline constexpr const char* latency_grows_with_length =
    "overloaded: latency grows with the run's length";

/// Detects overload. Empty with `arrival: closed`, if the pipeline keeps up, or if fewer than 15
/// frames were due.
///
/// With at least 15 completed frames, three conditions must hold. After the first third, in which a
/// queue builds up, nine of ten frames found no free slot when due: a queue that keeps up empties
/// now and then. Over 5 to 20 segments of these frames, completions are farther apart than arrivals
/// by a one-sided Student's t test at 2.5 %; the mean difference is the latency growth per frame,
/// or would be without drops. Latency grew by 10 % from the first third to the last, or frames were
/// dropped.
///
/// Latency counts as bounded if frames were dropped within the first third.
///
/// If fewer than half of the frames were completed, even few: overload is evident if the slots
/// could not complete as many frames as were offered even if each took as long as the shortest one.
std::optional<overload> overload_of(const run_record& record);

/// Detects overload of a configuration: more than half of its runs are overloaded. Returns the
/// medians over the overloaded runs; `growth` is set if latency grows in more than half of all
/// runs.
std::optional<overload> overload_of(std::span<const run_record* const> runs);

/// Makes the finding "overloaded", with rates and latency growth per second of load.
finding overload_finding(const overload& what);

}  // namespace graphline
