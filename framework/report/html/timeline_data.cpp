#include "framework/report/html/timeline_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/report/html/timeline_frames.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_slow = 50;
constexpr std::size_t most_typical = 50;
constexpr std::size_t most_missed = 100;
constexpr std::size_t most_beside = 4;  ///< frames in flight with one, on either side

/// Frames by end-to-end time, slowest first, equal ones in order.
std::vector<std::size_t> slowest_first(const std::vector<nanoseconds>& times, std::size_t count) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return times[a] != times[b] ? times[a] > times[b] : a < b;
                    });
  order.resize(count);
  return order;
}

/// Up to `count` of a list, evenly spaced.
std::vector<std::size_t> some_of(const std::vector<std::size_t>& list, std::size_t count) {
  if (list.size() <= count) return list;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(list[i * list.size() / count]);
  return result;
}

std::vector<std::size_t> frames_beyond(const std::optional<nanoseconds>& limit,
                                       const std::vector<nanoseconds>& times) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; limit && i < times.size(); ++i) {
    if (times[i] > *limit) result.push_back(i);
  }
  return result;
}

/// Keeps a frame and those that can be in flight with it, as far as there is room.
void keep_with_neighbours(timeline_frames& frames, const run_record& record, std::size_t frame) {
  const auto in_flight = static_cast<std::size_t>(std::max<std::int64_t>(record.run.in_flight, 1));
  const auto beside = std::min(in_flight, most_beside);
  frames.keep(frame);
  for (std::size_t i = 1; i <= beside; ++i) {
    if (frame >= i) frames.keep(frame - i);
    if (frame + i < record.frames.size()) frames.keep(frame + i);
  }
}

/// Those of a list that are kept, where there is room for them.
json kept_of(timeline_frames& frames, const std::vector<std::size_t>& list) {
  json kept = json::array();
  for (const auto frame : list) {
    if (frames.keep(frame)) kept.push_back(frame);
  }
  return kept;
}

/// Fills the room that is left. Multiples of the golden ratio, less their whole parts, lie evenly
/// however many of them are taken (Weyl's sequence).
void keep_evenly_spaced(timeline_frames& frames, std::size_t total) {
  constexpr double golden = 0.6180339887498949;
  double at = 0;
  for (std::size_t i = 0; i < total; ++i) {
    if (!frames.keep(static_cast<std::size_t>(at * static_cast<double>(total)))) return;
    at = std::fmod(at + golden, 1.0);
  }
}

/// Keeps all frames; says whether there was room.
bool keep_all(timeline_frames& frames, std::size_t total) {
  for (std::size_t i = 0; i < total; ++i) {
    if (!frames.keep(i)) return false;
  }
  return true;
}

/// Keeps the median frame, the slowest and those around them.
void keep_first(timeline_frames& frames, const run_record& record, std::size_t median,
                const std::vector<std::size_t>& slow) {
  keep_with_neighbours(frames, record, median);
  for (const auto frame : slow) keep_with_neighbours(frames, record, frame);
  constexpr std::size_t around = 10;
  const auto first = median < around ? 0 : median - around;
  const auto end = std::min(median + around + 1, record.frames.size());
  for (auto frame = first; frame < end; ++frame) frames.keep(frame);
}

}  // namespace

json timeline_data(const run_record& record, const attribution_summary& summary,
                   std::span<const std::size_t> wanted, std::size_t budget) {
  const auto times = end_to_end_times(record);
  const auto slow = slowest_first(times, most_slow);
  const auto typical = some_of(summary.typical_frames, most_typical);
  const auto missed = some_of(frames_beyond(record.run.deadline, times), most_missed);

  timeline_frames everything(record, budget);
  const bool all = keep_all(everything, times.size());
  timeline_frames chosen(record, budget);
  timeline_frames& frames = all ? everything : chosen;
  json asked = json::array();
  for (const auto frame : wanted) {
    if (frame >= times.size()) continue;
    frames.keep_anyhow(frame);
    asked.push_back(frame);
  }
  if (!all) keep_first(frames, record, summary.median_frame, slow);
  auto data = json::object();
  data["total"] = times.size();
  data["median"] = summary.median_frame;
  data["median_time"] = times[summary.median_frame];
  data["slowest"] = slow.front();
  data["asked"] = std::move(asked);
  data["slow"] = kept_of(frames, slow);
  data["typical"] = kept_of(frames, typical);
  data["missed"] = kept_of(frames, missed);
  if (!all) keep_evenly_spaced(frames, times.size());
  data["deadline"] = or_null(record.run.deadline);
  data["clock_error"] = record.clock_error;
  frames.write(data);
  return data;
}

}  // namespace graphline
