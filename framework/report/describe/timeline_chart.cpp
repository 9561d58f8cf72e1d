#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "framework/analysis/run/attribution.hpp"
#include "framework/report/describe/describe.hpp"

namespace graphline::report {

namespace {

constexpr std::size_t most_slow = 50;
constexpr std::size_t most_typical = 50;
constexpr std::size_t most_missed = 100;
constexpr std::size_t most_beside = 4;  ///< frames in flight with one, on either side

constexpr std::int64_t none = -1;

std::int64_t or_none(std::optional<std::size_t> index) {
  return index ? static_cast<std::int64_t>(*index) : none;
}

/// As JSON: brackets, and a comma after each number.
std::size_t bytes_of(const std::vector<nanoseconds>& row) {
  std::size_t bytes = 2;
  for (const auto value : row) bytes += std::to_string(value).size() + 1;
  return bytes;
}

/// Keeps frames, as rows of whole numbers, within a budget.
class kept_frames {
 public:
  /// `record` must outlive this. `budget` is in bytes of JSON.
  kept_frames(const run_record& record, std::size_t budget)
      : record_(record), timeline_(record), attributor_(record), left_(budget) {}

  /// Keeps a frame if there is room or it is kept already; says whether it is kept.
  bool keep(std::size_t frame) {
    if (rows_.count(frame) != 0) return true;
    auto made = row_of(frame);
    const auto bytes = bytes_of(made);
    if (bytes > left_) return false;
    left_ -= bytes;
    rows_.emplace(frame, std::move(made));
    return true;
  }

  /// Keeps a frame whether there is room or not.
  void keep_anyhow(std::size_t frame) {
    if (keep(frame)) return;
    left_ = 0;
    rows_.emplace(frame, row_of(frame));
  }

  /// Those of a list that are kept, where there is room for them.
  std::vector<std::size_t> keep_some(const std::vector<std::size_t>& list) {
    std::vector<std::size_t> kept;
    std::copy_if(list.begin(), list.end(), std::back_inserter(kept),
                 [this](std::size_t frame) { return keep(frame); });
    return kept;
  }

  /// Keeps a frame and those that can be in flight with it, as far as there is room.
  void keep_with_neighbors(std::size_t frame) {
    const auto in_flight =
        static_cast<std::size_t>(std::max<std::int64_t>(record_.run.in_flight, 1));
    keep_around(frame, std::min(in_flight, most_beside));
  }

  void keep_around(std::size_t frame, std::size_t reach) {
    const auto end = std::min(frame + reach + 1, record_.frames.size());
    for (auto at = frame - std::min(frame, reach); at < end; ++at) keep(at);
  }

  void write(timeline_chart& to) && {
    to.lanes = timeline_.lanes();
    to.spans = in_order(spans_);
    to.pieces = in_order(pieces_);
    for (auto& [frame, numbers] : rows_) to.frames.push_back(std::move(numbers));
  }

 private:
  using row = std::vector<nanoseconds>;
  using key = std::vector<std::int64_t>;  ///< what is the same for a span or piece in many frames

  row row_of(std::size_t frame) {
    const auto& at = record_.frames[frame];
    const auto spans = timeline_.spans_of(frame);
    const auto attribution = attributor_.of(frame);
    row result = {static_cast<nanoseconds>(frame),
                  at.due,
                  at.begin - at.due,
                  at.end - at.due,
                  attribution.residual,
                  static_cast<nanoseconds>(spans.size())};
    nanoseconds last = at.due;
    for (const auto& span : spans) {
      const bool part = span.what == timeline_span::kind::part;
      result.push_back(index_of(
          spans_, {static_cast<std::int64_t>(span.what), static_cast<std::int64_t>(span.lane),
                   or_none(span.stage), part ? static_cast<std::int64_t>(span.part) : none}));
      result.push_back(span.begin - last);
      result.push_back(span.end - span.begin);
      last = span.begin;
    }
    last = at.due;
    for (const auto& piece : attribution.pieces) {
      result.push_back(
          index_of(pieces_, {static_cast<std::int64_t>(piece.what), or_none(piece.stage)}));
      result.push_back(piece.begin - last);
      result.push_back(piece.length());
      last = piece.end;
    }
    return result;
  }

  static nanoseconds index_of(std::map<key, std::size_t>& table, key what) {
    const auto at = table.try_emplace(std::move(what), table.size()).first;
    return static_cast<nanoseconds>(at->second);
  }

  static std::vector<key> in_order(const std::map<key, std::size_t>& table) {
    std::vector<key> keys(table.size());
    for (const auto& [what, index] : table) keys[index] = what;
    return keys;
  }

  const run_record& record_;
  timeline timeline_;
  attributor attributor_;
  std::size_t left_;  ///< of the budget
  std::map<std::size_t, row> rows_;
  std::map<key, std::size_t> spans_;
  std::map<key, std::size_t> pieces_;
};

/// Frames by end-to-end time, slowest first, equal ones in order.
std::vector<std::size_t> slowest_first(const std::vector<nanoseconds>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = std::min(most_slow, order.size());
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

/// Fills the room that is left, with all frames where it is enough. Numbers with their bits in
/// reverse lie evenly however many of them are taken (van der Corput's sequence).
void keep_evenly_spaced(kept_frames& frames, std::size_t total) {
  const auto end = std::bit_ceil(total);
  std::size_t at = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (at < total && !frames.keep(at)) return;
    auto bit = end / 2;
    for (; (at & bit) != 0; bit /= 2) at -= bit;
    at += bit;
  }
}

std::vector<timeline_chart::stage> stages_of(const run_record& record) {
  std::vector<timeline_chart::stage> list;
  for (const auto& stage : record.stages) {
    list.push_back({stage.name, {}, {}});
    for (const auto& part : stage.parts) list.back().parts.push_back(part.name);
    for (const auto& wait : stage.waits) list.back().waits.push_back(wait.stage);
  }
  return list;
}

}  // namespace

timeline_chart timeline_of(const run_record& record, const attribution_summary& summary,
                           const std::vector<std::size_t>& asked, std::size_t budget) {
  const auto times = end_to_end_times(record);
  const auto slow = slowest_first(times);

  kept_frames frames(record, budget);
  timeline_chart made;
  for (const auto frame : asked) {
    if (frame >= times.size()) continue;
    frames.keep_anyhow(frame);
    made.asked.push_back(frame);
  }
  constexpr std::size_t around = 10;
  frames.keep_with_neighbors(summary.median_frame);
  for (const auto frame : slow) frames.keep_with_neighbors(frame);
  frames.keep_around(summary.median_frame, around);
  made.stages = stages_of(record);
  made.total = times.size();
  made.median = summary.median_frame;
  made.median_time = times[summary.median_frame];
  made.slowest = slow.front();
  made.slow = frames.keep_some(slow);
  made.typical = frames.keep_some(some_of(summary.typical_frames, most_typical));
  made.missed = frames.keep_some(some_of(frames_beyond(record.run.deadline, times), most_missed));
  keep_evenly_spaced(frames, times.size());
  made.deadline = record.run.deadline;
  made.clock_error = record.clock_error;
  std::move(frames).write(made);
  return made;
}

}  // namespace graphline::report
