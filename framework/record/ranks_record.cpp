#include "framework/record/ranks_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphline {

std::string rank_name(std::int64_t rank, const std::string& host) {
  return fmt::format("rank {} on {}", rank, host);
}

const run_record& first_run(const ranks_record& record) {
  return *std::ranges::find_if(record.ranks, [](const rank_record& r) {
            return r.run.has_value();
          })->run;
}

nanoseconds first_begin(const run_record& run) {
  return std::min<nanoseconds>(*run.epoch, 0x1p62) + run.frames.front().begin;
}

std::optional<clock_offset> clock_of(const rank_record& rank, nanoseconds at) {
  if (rank.rank == 0) return clock_offset{at};
  if (rank.clock.size() < 2) return std::nullopt;
  return offset_at(at, rank.clock.front(), rank.clock.back());
}

}  // namespace graphline
