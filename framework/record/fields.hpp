#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

// What a result file holds of a struct is described once, beside the struct: by `fields`, each by
// its key, in the order in which they are written. `record_json.cpp` follows it to write,
// `record_from_json.cpp` to read.
//
// An archive has for a field, of whatever type,
//   value     an optional one is null where there is nothing; left out where it would be a struct
//   column    a list with an entry for each frame, or none at all; stamps are two lists
//   busy      a time of each of some stamps, of which it is a part
//   type      of a tensor, by the keys "shape" and "dtype"
// and is a `record_counts`.

/// How many of these the run has; of stages and nodes, while a list of them is being read, those
/// before.
struct record_counts {
  std::size_t frames = 0;
  std::size_t threads = 0;
  std::size_t stages = 0;
  std::size_t nodes = 0;
};

/// What numbers are taken by a reader; `words` names them in a message.
struct number_range {
  double least;
  double most;
  const char* words;  ///< "{}" in it stands for the first whole number beyond `most`

  bool holds(double number) const noexcept { return number >= least && number <= most; }
};

/// No run takes so long, and reports may add up times without leaving 64 bits.
inline constexpr number_range any_time{-0x1p53, 0x1p53, "nanoseconds of 104 days at most"};
inline constexpr number_range time_above_0{1, 0x1p53, "a time above 0"};
/// FLOPs or bytes, such that some hundred of them can be added up in 64 bits.
inline constexpr number_range any_amount{0, 0x1p56, "a number from 0 to 2^56"};
/// What reports divide by.
inline constexpr number_range any_ceiling{1e-3, 1e18, "a number from 0.001 to 10^18"};
inline constexpr number_range any_rate{lowest_rate, highest_rate,
                                       "a rate from 0.000001 to 1,000,000 frames a second"};
inline constexpr number_range part_of_one{std::numeric_limits<double>::denorm_min(),
                                          1 - std::numeric_limits<double>::epsilon() / 2,
                                          "a number between 0 and 1"};
inline constexpr number_range from_0{0, 0x1p63, "a number from 0"};
inline constexpr number_range from_1{1, 0x1p63, "a number from 1"};
/// Reports look up what an index names.
constexpr number_range index_below(std::size_t end) {
  return {0, static_cast<double>(end) - 1, "an index below {}"};
}
/// A value of `cause`, or an index.
constexpr number_range cause_below(std::size_t end) {
  return {-2, static_cast<double>(end) - 1, "-2, -1 or an index below {}"};
}

template <class T, class Record>
concept part_of_record = std::same_as<std::remove_const_t<T>, Record>;

/// Whether there are `fields` of it.
template <class T>
concept part_of_a_record = requires(int& any_archive, T& of) {
  fields(any_archive, of);
};

}  // namespace graphline
