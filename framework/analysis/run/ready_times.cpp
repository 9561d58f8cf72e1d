#include "framework/analysis/run/ready_times.hpp"

#include <algorithm>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

bool is_awaited(const run_record& record, std::size_t earlier, std::size_t later) {
  if (record.stages[earlier].on == side::cpu) return false;
  const auto& waits = record.stages[later].waits;
  const auto wait = std::ranges::find(waits, earlier, &wait_record::stage);
  return properties_of(record.run).in_order || wait == waits.end() ||
         wait->how == satisfied_by::completion;
}

std::optional<nanoseconds> call_end(const stage_record& stage, std::size_t pass) {
  for (const auto* column : {&stage.cpu, &stage.synced, &stage.enqueued}) {
    if (const auto stamps = sound_stamps(*column, pass)) return stamps->end;
  }
  return std::nullopt;
}

std::optional<nanoseconds> ready_time(const run_record& record, const run_passes& passes,
                                      std::size_t stage, std::size_t pass) {
  const stage_record& of = record.stages[stage];
  if (pass >= of.causes.size()) return std::nullopt;
  const std::int32_t by = of.causes[pass];
  if (by == cause::frame_begun) return passes[pass].begin;
  if (by == cause::dropped_frame || by == cause::other_rank) return std::nullopt;
  if (by < 0) return pass == 0 ? std::nullopt : call_end(of, pass - 1);
  const auto earlier = static_cast<std::size_t>(by);
  const auto& seen = record.stages[earlier].seen;
  const auto called = call_end(record.stages[earlier], pass);
  if (!is_awaited(record, earlier, stage) || pass >= seen.size()) return called;
  return std::max(called.value_or(seen[pass]), seen[pass]);
}

}  // namespace graphline
