#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

// For each struct of a record, a function `fields` lists the members and their keys in the order of
// result files. `record_json.cpp` writes the fields, and `record_from_json.cpp` reads them.
//
// An archive derives from `record_counts` and provides these members for `fields`:
//   value     a value; an empty optional is null, or omitted if its type is a struct
//   column    a list with one entry per frame, or an empty list; stamps become two lists
//   busy      a column of times, each at most the length of the interval in the same frame
//   batches   two columns: how many of a number of frames ran in each pass, and when it was ready
//   type      a tensor type, by the keys "shape" and "dtype"

/// Sizes of the run being written or read. While stages or nodes are read, the number read so far.
struct record_counts {
  std::size_t frames = 0;
  std::size_t threads = 0;
  std::size_t stages = 0;
  std::size_t all_stages = 0;  ///< also while they are read
  std::size_t nodes = 0;
  std::size_t buckets = 1;  ///< of the stage, at least 1
  std::size_t devices = 1;
};

/// Numbers that readers accept.
struct number_range {
  double least;
  double most;
  const char* words;  ///< for messages; "{}" stands for the first whole number above `most`

  bool holds(double number) const noexcept { return number >= least && number <= most; }
};

/// These limits keep sums of times within 64 bits.
inline constexpr number_range any_time{-0x1p53, 0x1p53, "nanoseconds of 104 days at most"};
inline constexpr number_range any_clock{-0x1p62, 0x1p62, "nanoseconds of 146 years at most"};
inline constexpr number_range time_above_0{1, 0x1p53, "a time above 0"};
/// FLOPs or bytes. The limit keeps the sum of a hundred amounts within 64 bits.
inline constexpr number_range any_amount{0, 0x1p56, "a number from 0 to 2^56"};
/// Limits for numbers that reports divide by.
inline constexpr number_range any_ceiling{1e-3, 1e18, "a number from 0.001 to 10^18"};
inline constexpr number_range any_rate{lowest_rate, highest_rate,
                                       "a rate from 0.000001 to 1,000,000 frames a second"};
inline constexpr number_range any_level{-most_level, most_level, "a level from -99 to 99"};
inline constexpr number_range part_of_one{std::numeric_limits<double>::denorm_min(),
                                          1 - std::numeric_limits<double>::epsilon() / 2,
                                          "a number between 0 and 1"};
inline constexpr number_range from_0{0, 0x1p63, "a number from 0"};
inline constexpr number_range from_1{1, 0x1p63, "a number from 1"};
constexpr number_range index_below(std::size_t end) {
  return {0, static_cast<double>(end) - 1, "an index below {}"};
}
inline constexpr number_range row_count{0, 0x1p31 - 1, "a number of rows below 2^31"};
inline constexpr number_range rows_of_frame{-1, 0x1p31 - 1, "-1 or a number of rows below 2^31"};
inline constexpr number_range ran_or_skipped{-1, 1, "1 or -1"};
inline number_range rows_within(const shape& whole) {
  const double extent = whole.rank() == 0 ? 0 : static_cast<double>(whole[0]);
  return {0, extent, "a number of rows below {}"};
}
constexpr number_range cause_below(std::size_t end) {
  return {-4, static_cast<double>(end) - 1, "-4 to -1, or an index below {}"};
}
constexpr number_range preferred_below(std::size_t stages) {
  return {-2, static_cast<double>(stages), "-2, -1, 0, or an index below {} plus 1"};
}

template <class T, class Record>
concept part_of_record = std::same_as<std::remove_const_t<T>, Record>;

/// Types for which a function `fields` exists.
template <class T>
concept part_of_a_record = requires(int& any_archive, T& of) {
  fields(any_archive, of);
};

}  // namespace graphline
