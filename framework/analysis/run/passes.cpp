#include "framework/analysis/run/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace graphline {

namespace {

/// Returns the lowest and the highest number of frames that count as one size: the number itself
/// up to 16, then 17 to 32, 33 to 64 and so on.
std::pair<std::int64_t, std::int64_t> range_of(std::int32_t frames) {
  constexpr std::int64_t most_alone = 16;
  if (frames <= most_alone) return {frames, frames};
  const auto high = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(frames)));
  return {high / 2 + 1, high};
}

}  // namespace

run_passes::run_passes(const run_record& record) : record_(record) {
  first_.reserve(record.batches.size());
  std::size_t first = 0;
  for (const batch_record& batch : record.batches) {
    first_.push_back(first);
    first += static_cast<std::size_t>(batch.frames);
  }
}

std::size_t run_passes::of(std::size_t frame) const {
  if (first_.empty()) return frame;
  return static_cast<std::size_t>(std::ranges::upper_bound(first_, frame) - first_.begin()) - 1;
}

nanoseconds run_passes::joined(std::size_t frame) const {
  const auto& [due, begin, end] = record_.frames[frame];
  if (first_.empty()) return begin;
  return std::min(std::max(due, record_.batches[of(frame)].ready), begin);
}

std::vector<nanoseconds> queue_wait_times(const run_record& record) {
  const run_passes passes(record);
  std::vector<nanoseconds> times(record.frames.size());
  for (std::size_t f = 0; f < times.size(); ++f) times[f] = passes.joined(f) - record.frames[f].due;
  return times;
}

std::vector<nanoseconds> batch_wait_times(const run_record& record) {
  const run_passes passes(record);
  std::vector<nanoseconds> times(record.frames.size());
  for (std::size_t f = 0; f < times.size(); ++f) {
    times[f] = record.frames[f].begin - passes.joined(f);
  }
  return times;
}

std::optional<batch_summary> batches_of(const run_record& record) {
  if (record.batches.empty()) return std::nullopt;
  const run_passes passes(record);
  batch_summary result;
  result.batches = passes.size();
  result.mean =
      static_cast<double>(record.frames.size()) / static_cast<double>(record.batches.size());
  result.wait = distribution::of(batch_wait_times(record));
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> sizes;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    const auto frames = record.batches[pass].frames;
    sizes[range_of(frames)].push_back(pass);
  }
  for (const auto& [range, of_size] : sizes) {
    auto& size = result.sizes.emplace_back();
    size.low = range.first;
    size.high = range.second;
    size.batches = of_size.size();
    std::vector<nanoseconds> times;
    for (const auto pass : of_size) {
      size.frames += passes.frames_in(pass);
      times.push_back(passes[pass].end - passes[pass].begin);
    }
    size.times = distribution::of(std::move(times));
  }
  return result;
}

}  // namespace graphline
