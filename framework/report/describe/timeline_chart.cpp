#include <algorithm>
#include <map>
#include <numeric>

#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/rows.hpp"
#include "framework/report/describe/describe.hpp"

namespace graphline::report {

namespace {

constexpr std::size_t most_slow = 50;

std::int64_t or_none(std::optional<std::size_t> index) {
  return index ? static_cast<std::int64_t>(*index) : -1;
}

/// The rows of the frames in the chart, limited to `most_numbers` numbers in total.
class kept_frames {
 public:
  /// @pre `record` outlives this.
  kept_frames(const run_record& record, std::size_t most_numbers)
      : record_(record),
        timeline_(record),
        attributor_(record),
        passes_(record),
        left_(most_numbers) {}

  /// Adds a frame. Returns false if there is no room for it.
  bool keep(std::size_t frame) {
    if (rows_.contains(frame)) return true;
    auto made = row_of(frame);
    // The first frame is kept whatever its size, because a timeline needs a frame.
    if (!rows_.empty() && made.size() > left_) return false;
    left_ -= std::min(left_, made.size());
    rows_.emplace(frame, std::move(made));
    return true;
  }

  /// Keeps a frame and `reach` frames on either side.
  void keep_around(std::size_t frame, std::size_t reach) {
    keep(frame);
    const auto end = std::min(frame + reach + 1, record_.frames.size());
    for (auto at = frame - std::min(frame, reach); at < end; ++at) keep(at);
  }

  /// Returns how many frames of average size still fit.
  std::size_t room() const {
    std::size_t used = 0;
    for (const auto& [frame, row] : rows_) used += row.size();
    return left_ * rows_.size() / used;
  }

  void write(timeline_chart& to) && {
    to.lanes = timeline_.lanes();
    for (auto& [frame, numbers] : rows_) to.frames.push_back(std::move(numbers));
  }

 private:
  std::vector<nanoseconds> row_of(std::size_t frame) {
    const auto& at = record_.frames[frame];
    auto spans = timeline_.spans_of(passes_.of(frame));
    const auto marks = timeline_.skipped_in(passes_.of(frame));
    spans.insert(spans.end(), marks.begin(), marks.end());
    const auto attribution = attributor_.of(frame);
    std::vector<nanoseconds> row = {static_cast<nanoseconds>(frame),
                                    at.due,
                                    at.begin - at.due,
                                    at.end - at.due,
                                    attribution.residual,
                                    static_cast<nanoseconds>(spans.size())};
    for (const auto& span : spans) {
      const bool part = span.what == timeline_span::kind::part;
      row.insert(row.end(),
                 {static_cast<nanoseconds>(span.what), static_cast<nanoseconds>(span.lane),
                  or_none(span.stage), part ? static_cast<nanoseconds>(span.part) : -1,
                  span.begin - at.due, span.end - span.begin, span.instead_of});
    }
    for (const auto& piece : attribution.pieces) {
      row.insert(row.end(), {static_cast<nanoseconds>(piece.what), or_none(piece.stage),
                             piece.begin - at.due, piece.length()});
    }
    return row;
  }

  const run_record& record_;
  timeline timeline_;
  attributor attributor_;
  run_passes passes_;
  std::size_t left_;  ///< numbers that still fit
  std::map<std::size_t, std::vector<nanoseconds>> rows_;
};

/// Returns the slowest frames, slowest first. Frames with equal times are in frame order.
std::vector<std::size_t> slowest_frames(const std::vector<nanoseconds>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  order.resize(std::min(most_slow, order.size()));
  return order;
}

}  // namespace

timeline_chart timeline_of(const run_record& record, std::size_t median, std::size_t most_numbers) {
  constexpr std::size_t around_median = 10;
  constexpr std::int64_t most_around_slow = 4;
  kept_frames frames(record, most_numbers);
  frames.keep_around(median, around_median);
  // Frames in flight at the same time as a slow frame may have slowed it down.
  const auto in_flight = std::clamp<std::int64_t>(record.run.in_flight, 1, most_around_slow);
  for (const auto frame : slowest_frames(end_to_end_times(record))) {
    frames.keep_around(frame, static_cast<std::size_t>(in_flight));
  }
  const auto gaps = std::max<std::size_t>(frames.room(), 2) - 1;
  for (std::size_t i = 0; i <= gaps; ++i) frames.keep((record.frames.size() - 1) * i / gaps);

  timeline_chart made;
  for (const auto& stage : record.stages) {
    made.stages.push_back({stage.name, {}});
    for (const auto& part : stage.parts) {
      made.stages.back().parts.push_back(part.name + bucket_suffix(stage, part.bucket));
    }
  }
  made.total = record.frames.size();
  made.median = median;
  made.deadline = record.run.deadline;
  made.clock_error = record.clock_error;
  std::move(frames).write(made);
  return made;
}

}  // namespace graphline::report
