#include "framework/analysis/run/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "framework/analysis/run/summary.hpp"

namespace graphline {

namespace {

/// Returns the number of rows that the stage computes of a frame, without padding.
std::int64_t rows_in(const stage_record& stage, std::size_t frame) {
  return std::min<std::int64_t>(stage.rows[frame], stage.capacity);
}

/// Dynamic programming over the different numbers of rows. The last bucket of a frame's candidates
/// moves up with the frame, so each half of a range needs only a part of the candidates.
class bucket_search {
 public:
  /// @param rows Ascending.
  bucket_search(const std::vector<std::int64_t>& rows, std::int64_t capacity) {
    for (const auto count : rows) {
      if (values_.empty() || values_.back() != count) {
        values_.push_back(count);
        frames_.push_back(frames_.empty() ? 0 : frames_.back());
      }
      ++frames_.back();
    }
    if (values_.empty() || values_.back() != capacity) {
      values_.push_back(capacity);
      frames_.push_back(frames_.empty() ? 0 : frames_.back());
    }
    for (std::size_t j = 0; j < values_.size(); ++j) least_.push_back(values_[j] * frames_[j]);
  }

  bucket_choice best(std::size_t most) {
    const std::size_t last = values_.size() - 1;
    bucket_choice result{chosen(last), least_[last]};
    for (std::size_t buckets = 2; buckets <= std::min(most, values_.size()); ++buckets) {
      const auto fewer = least_;
      before_.emplace_back(values_.size(), 0);
      improve(fewer, buckets - 1, last + 1, buckets - 2, last);
      if (least_[last] < result.computed) result = {chosen(last), least_[last]};
    }
    return result;
  }

 private:
  /// Finds the best bucket below each of `values_[begin]` up to `values_[end]`, exclusive, among
  /// the indices from `first` to `last`.
  void improve(const std::vector<std::int64_t>& fewer, std::size_t begin, std::size_t end,
               std::size_t first, std::size_t last) {
    if (begin >= end) return;
    const std::size_t middle = begin + (end - begin) / 2;
    std::optional<std::int64_t> least;
    std::size_t best = first;
    for (std::size_t i = first; i <= std::min(last, middle - 1); ++i) {
      const auto computed = fewer[i] + values_[middle] * (frames_[middle] - frames_[i]);
      if (least && computed >= *least) continue;
      least = computed;
      best = i;
    }
    least_[middle] = *least;
    before_.back()[middle] = best;
    improve(fewer, begin, middle, first, best);
    improve(fewer, middle + 1, end, best, last);
  }

  std::vector<std::int64_t> chosen(std::size_t at) const {
    std::vector<std::int64_t> buckets = {values_[at]};
    for (auto before = before_.rbegin(); before != before_.rend(); ++before) {
      at = (*before)[at];
      buckets.push_back(values_[at]);
    }
    std::ranges::reverse(buckets);
    return buckets;
  }

  std::vector<std::int64_t> values_;  ///< different numbers of rows, ascending, and the capacity
  std::vector<std::int64_t> frames_;  ///< frames with at most as many rows, by value
  std::vector<std::int64_t> least_;   ///< fewest rows computed by these frames, by value
  std::vector<std::vector<std::size_t>> before_;  ///< next lower bucket, by number of buckets
};

}  // namespace

std::optional<double> rows_summary::mean_rows() const {
  if (computed == 0) return std::nullopt;
  return static_cast<double>(rows) / static_cast<double>(ran);
}

std::optional<double> padding_of(std::int64_t rows, std::int64_t computed) {
  if (computed == 0) return std::nullopt;
  return static_cast<double>(computed - rows) / static_cast<double>(computed);
}

std::optional<rows_summary> rows_of(const stage_record& stage, const settings& run) {
  if (stage.rows.empty()) return std::nullopt;
  rows_summary result;
  result.buckets.resize(stage.buckets.size());
  for (std::size_t frame = 0; frame < stage.rows.size(); ++frame) {
    const std::int64_t count = stage.rows[frame];
    if (!ran(stage, frame)) {
      ++(count == 0 ? result.without_rows : result.skipped);
      continue;
    }
    ++result.ran;
    if (stage.capacity == 0) continue;
    const auto rows = rows_in(stage, frame);
    result.rows += rows;
    result.most = std::max(result.most, count);
    if (count > stage.capacity) ++result.above_capacity;
    if (stage.buckets.empty()) {
      result.computed += rows;
      continue;
    }
    const auto bucket = bucket_of(stage, frame);
    result.computed += stage.buckets[bucket].rows;
    ++result.buckets[bucket].frames;
    result.buckets[bucket].rows += rows;
  }
  const auto measures = measures_of(stage.on, run);
  for (std::size_t b = 0; b < result.buckets.size() && !measures.empty(); ++b) {
    result.buckets[b].times =
        distribution::of(of_frames_run(stage, times_by_frame(stage, measures.front()), b));
  }
  return result;
}

std::vector<std::size_t> frames_by_bucket(const stage_record& stage) {
  std::vector<std::size_t> frames(std::max<std::size_t>(1, stage.buckets.size()));
  for (std::size_t f = 0; f < stage.rows.size(); ++f) {
    if (ran(stage, f)) ++frames[bucket_of(stage, f)];
  }
  return frames;
}

const cost_record& cost_of(const stage_record& stage, std::size_t frame) {
  return stage.buckets.empty() ? stage.cost : stage.buckets[bucket_of(stage, frame)].cost;
}

std::string bucket_suffix(const stage_record& stage, std::size_t bucket) {
  if (stage.buckets.empty()) return "";
  return fmt::format(" (rows={})", stage.buckets[bucket].rows);
}

bucket_choice best_buckets(std::vector<std::int64_t> rows, std::int64_t capacity,
                           std::size_t most) {
  std::ranges::sort(rows);
  return bucket_search(rows, capacity).best(most);
}

std::vector<finding> rows_findings(const stage_record& stage, const rows_summary& summary,
                                   const settings& run) {
  constexpr std::size_t least_frames = 20;
  constexpr double matters = 0.9;
  std::vector<finding> result;
  if (summary.above_capacity > 0) {
    auto& made = result.emplace_back(
        finding{"rows_above_capacity", finding_severity::warning, {stage.name}});
    made.with(run.batch_frames > 1 ? "batches" : "frames", summary.above_capacity)
        .with("most", summary.most)
        .with("capacity", stage.capacity);
    // Only then can the rows be the frames of a batch.
    if (run.batch_frames > 1 && summary.most <= run.batch_frames) {
      made.with("batch_frames", run.batch_frames);
    }
  }
  if (stage.buckets.empty() || summary.ran < least_frames) return result;
  std::vector<std::int64_t> rows;
  for (std::size_t frame = 0; frame < stage.rows.size(); ++frame) {
    if (ran(stage, frame)) rows.push_back(rows_in(stage, frame));
  }
  const auto best = best_buckets(std::move(rows), stage.capacity, stage.buckets.size());
  const auto computed = static_cast<double>(summary.computed);
  if (static_cast<double>(best.computed) > matters * computed) return result;
  result.push_back(finding{"padding", finding_severity::note, {stage.name}}
                       .with("padding", padding_of(summary.rows, summary.computed), unit::share)
                       .with("buckets", fmt::format("[{}]", fmt::join(best.buckets, ", ")))
                       .with("better", padding_of(summary.rows, best.computed), unit::share));
  return result;
}

}  // namespace graphline
