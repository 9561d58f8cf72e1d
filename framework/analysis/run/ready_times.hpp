#pragma once

#include <cstddef>
#include <optional>

#include "framework/analysis/run/passes.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns true if the host waits for the completion of stage `earlier` before it runs or launches
/// `later`; false if it waits for the call only.
bool is_awaited(const run_record& record, std::size_t earlier, std::size_t later);

/// Returns when the host's call of a stage returned in a pass: a CPU stage, a launch, or a launch
/// with both waits around it. Empty if it was not timed.
std::optional<nanoseconds> call_end(const stage_record& stage, std::size_t pass);

/// Returns when the host could run a CPU stage or launch a device stage, so that it waited only for
/// a thread from then on: the stamp of the stage's last cause. Empty if the record has no cause, or
/// one of a frame that was cut short.
std::optional<nanoseconds> ready_time(const run_record& record, const run_passes& passes,
                                      std::size_t stage, std::size_t pass);

}  // namespace graphline
