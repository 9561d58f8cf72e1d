#include "framework/analysis/frame_period.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace graphline {

completed_frames completions_of(const run_record& record) {
  if (record.frames.empty()) return {};
  std::vector<nanoseconds> ends;
  ends.reserve(record.frames.size());
  nanoseconds begin = record.frames.front().begin;
  for (const auto& frame : record.frames) {
    begin = std::min(begin, frame.begin);
    ends.push_back(frame.end);
  }
  std::sort(ends.begin(), ends.end());
  const std::size_t count = ends.size();
  const auto slots = static_cast<std::size_t>(std::max<std::int64_t>(record.run.in_flight, 1));
  const bool back_to_back = record.run.arrival == arrival::closed && slots == 1;
  if (back_to_back || count <= slots) {
    return {static_cast<double>(count), static_cast<double>(ends.back() - begin)};
  }
  // The sum of all gaps between a completion and the one `slots` before it.
  double sum = 0;
  for (std::size_t i = 0; i < slots; ++i) {
    sum += static_cast<double>(ends[count - 1 - i] - ends[i]);
  }
  return {static_cast<double>(count - slots), sum / static_cast<double>(slots)};
}

std::optional<double> frame_period(const run_record& record) {
  const auto done = completions_of(record);
  if (!(done.time > 0)) return std::nullopt;
  return done.time / done.count;
}

std::optional<double> offered_rate(const run_record& record) {
  auto due = record.load.dropped;
  for (const auto& frame : record.frames) due.push_back(frame.due);
  if (due.size() < 2) return std::nullopt;
  const auto [first, last] = std::minmax_element(due.begin(), due.end());
  if (*first >= *last) return std::nullopt;
  return static_cast<double>(due.size() - 1) * 1e9 / static_cast<double>(*last - *first);
}

}  // namespace graphline
