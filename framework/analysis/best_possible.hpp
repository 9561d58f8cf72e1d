#pragma once

#include <cstddef>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// The least time a frame can take with the stage times that it had: launches, waits and
/// hand-overs take nothing, and no other frame is in its way.
struct best_time {
  nanoseconds time = 0;
  std::vector<std::size_t> path;  ///< the stages that make it, in order
};

/// What holds stages back beside what they wait for.
enum class constraint {
  plan,   ///< what the strategy and the streams order too: one host thread, stages of a stream in
          ///< turn, under `serial` each stage after the one before
  edges,  ///< nothing but a device that carries out one thing at a time (`host`)
};

/// For a frame whose stages were timed (`sync`, `event`, `layers`; under `sync` with their launch).
/// Never more than the frame's time from begin to end, but for the clocks' error, and by the plan
/// never less than by the edges. In a frame's graph CPU stages are bound by their edges alone, as
/// the record does not say which of them share a stream.
best_time best_possible(const run_record& record, std::size_t frame, constraint by);

}  // namespace graphline
