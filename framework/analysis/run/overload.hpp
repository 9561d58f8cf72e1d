#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Frames came faster than they were completed.
struct overload {
  double offered = 0;            ///< frames due in a second, whatever became of them
  double completed = 0;          ///< frames completed in a second
  std::size_t dropped = 0;       ///< frames
  std::optional<double> growth;  ///< of the latency, in ns a second; nothing where drops bound it
};

/// Why the latency of a run says nothing beyond the run.
inline constexpr const char* latency_grows_with_length =
    "overloaded: latency grows with the run's length";

/// Nothing with `arrival: closed`, where frames keep up, and where fewer than 15 were due.
///
/// Of at least 15 completed frames: after the first third, in which a queue builds up, nine of ten
/// frames must have found no free slot when they were due: a queue that is kept up with empties now
/// and then. And in twenty stretches of these frames (five at the least) completions must lie
/// farther apart than arrivals, by Student's t with 2.5 % for chance: the difference is what
/// latency grows by from frame to frame, or would without drops. Last, latency must have grown by a
/// tenth from the first third to the last, or frames have been dropped.
///
/// Latency counts as bounded where the queue was full, and dropped frames, within the first third.
///
/// Where fewer than half of the frames were completed, be it a few: if each had taken no longer
/// than the shortest of them, there still would not have been slots for as many as were offered.
std::optional<overload> overload_of(const run_record& record);

/// Of runs of one configuration: where more than half of them are overloaded, with the medians over
/// these. Latency grows where it does in more than half of all.
std::optional<overload> overload_of(std::span<const run_record* const> runs);

/// "overloaded", with its rates and by how much latency grows per second of load.
finding overload_finding(const overload& what);

}  // namespace graphline
