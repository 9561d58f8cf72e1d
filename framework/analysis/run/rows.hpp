#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Use of a bucket. A CPU stage with `rows` has none, because it computes no padding.
struct bucket_use {
  std::size_t frames = 0;
  std::int64_t rows = 0;              ///< rows of these frames, without padding
  std::optional<distribution> times;  ///< by the stage's first measure
};

/// Frames of a stage for which the host decides in each frame how much of it runs.
struct rows_summary {
  std::size_t ran = 0;
  std::size_t without_rows = 0;  ///< did not run, because the frame has zero rows
  std::size_t skipped = 0;

  // The rest is 0 or empty for a stage without `rows`.
  std::int64_t rows = 0;            ///< computed in all frames, without padding
  std::int64_t computed = 0;        ///< with padding
  std::size_t above_capacity = 0;   ///< frames with more rows than the capacity
  std::int64_t most = 0;            ///< largest number of rows of a frame, computed or not
  std::vector<bucket_use> buckets;  ///< as in the record

  /// Returns the mean number of rows of the frames that ran the stage; empty without `rows`.
  std::optional<double> mean_rows() const;
};

/// Returns the fraction of computed rows that are padding; empty if none are computed.
std::optional<double> padding_of(std::int64_t rows, std::int64_t computed);

/// Summarizes the frames of a stage; empty if the stage runs in every frame.
std::optional<rows_summary> rows_of(const stage_record& stage, const settings& run);

/// Returns how many frames ran each bucket of a stage; without buckets, how many ran the stage.
/// @pre some frames may not run the stage
std::vector<std::size_t> frames_by_bucket(const stage_record& stage);

/// Returns the cost of a frame.
/// @pre the stage ran in the frame
const cost_record& cost_of(const stage_record& stage, std::size_t frame);

/// Returns " (rows=16)" for a bucket of a stage; empty for a stage without buckets.
std::string bucket_suffix(const stage_record& stage, std::size_t bucket);

/// Buckets, ascending, and the rows that frames compute with them.
struct bucket_choice {
  std::vector<std::int64_t> buckets;
  std::int64_t computed = 0;
};

/// Returns the set of at most `most` buckets with the fewest computed rows; among equal sets, one
/// with the fewest buckets. The capacity is always a bucket. Takes O(most n log n) time for n
/// different numbers of rows.
/// @param rows Numbers of rows of the frames, from 1 to `capacity`.
/// @pre `most` >= 1
bucket_choice best_buckets(std::vector<std::int64_t> rows, std::int64_t capacity, std::size_t most);

/// Returns the warning "rows_above_capacity" if rows were left out, and the note "padding" if other
/// buckets would compute a tenth fewer rows and at least 20 frames ran the stage.
std::vector<finding> rows_findings(const stage_record& stage, const rows_summary& summary,
                                   const settings& run);

}  // namespace graphline
