#pragma once

#include <cstdint>

#include "framework/base/words.hpp"
#include "framework/record/timing_protocol.hpp"

namespace graphline {

/// Columns of a record that a timing method fills, in addition to `run_record::frames`.
struct kept_columns {
  bool launches = false;  ///< of a frame's graph
  bool enqueued = false;  ///< of a device stage; also the next four
  bool device = false;
  bool busy = false;
  bool synced = false;
  bool parts = false;   ///< `device` and `busy` of each part
  bool cpu = false;     ///< of a CPU stage
  bool causes = false;  ///< of each stage, with `seen` and `run_record::ended_by`

  /// Returns true if the `threads` of device stages are filled.
  bool launcher() const noexcept { return enqueued || synced; }
};

/// Memory of a record with its analysis and reports, relative to the record alone. Measured: 6.6.
inline constexpr std::uint64_t record_and_reports = 7;

/// Returns the columns that a timing method fills. `one_launch`: each frame is launched as one
/// graph. `reports_busy_time`: see `device_properties`.
constexpr kept_columns columns_of(timing_method method, bool one_launch, bool reports_busy_time) {
  const auto traits = traits_of(method);
  const bool timed = method != timing_method::none;
  const bool synced = method == timing_method::sync;
  return {.launches = one_launch && timed,
          .enqueued = !one_launch && timed && !synced,
          .device = traits.tells_spans,
          .busy = traits.by_events && reports_busy_time,
          .synced = synced,
          .parts = method == timing_method::layers,
          .cpu = timed,
          .causes = !one_launch && timed};
}

}  // namespace graphline
