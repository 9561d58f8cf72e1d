#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Rates of a run in which frames arrived faster than they were completed.
struct overload {
  double offered = 0;    ///< arrivals per second, including frames that did not complete
  double completed = 0;  ///< completions per second
  std::size_t dropped = 0;
  std::optional<double> growth;  ///< latency growth in ns per second; empty if drops limit it
};

/// Reason why the latency of an overloaded run is not representative.
inline constexpr const char* latency_grows_with_length =
    "overloaded: latency grows with the run's length";

/// Detects overload. Empty with `arrival: closed`, if the pipeline keeps up, or if fewer than 15
/// frames were due.
///
/// A run with at least 15 complete frames is overloaded if all of these are true:
/// - After the first third, in which a queue builds up, nine of ten frames found no free slot when
///   due.
/// - Over 5 to 20 segments of these frames, the time between completions significantly exceeds the
///   time between arrivals (one-sided Student's t test at 2.5 %).
/// - Latency grew by at least 10 % from the first third to the last, or frames were dropped.
/// `growth` is empty if frames were dropped within the first third.
///
/// A run that completed fewer than half of its frames is overloaded if its slots could not keep up
/// even if every frame took as long as the shortest, or the shortest share of its batch. `growth`
/// is then empty if frames were dropped.
std::optional<overload> overload_of(const run_record& record);

/// Returns the medians over the overloaded runs if these are more than half of all runs. `growth`
/// is set if latency grows in more than half of all runs.
std::optional<overload> overload_of(std::span<const run_record* const> runs);

finding overload_finding(const overload& what);

}  // namespace graphline
