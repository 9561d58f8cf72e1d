#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Result of comparing an output between two runs.
enum class output_fate {
  same,         ///< equal checksums
  differs,      ///< different checksums; `largest` is set if both have values
  other_type,   ///< different shape or dtype
  other_rows,   ///< different numbers of rows, or only one of the tensors has rows
  only_before,  ///< the second run lacks the output
  only_after,   ///< the first run lacks the output
};
inline constexpr word<output_fate> output_fate_words[] = {{"same", output_fate::same},
                                                          {"differs", output_fate::differs},
                                                          {"other_type", output_fate::other_type},
                                                          {"other_rows", output_fate::other_rows},
                                                          {"only_before", output_fate::only_before},
                                                          {"only_after", output_fate::only_after}};
template <>
struct words_of<output_fate> {
  static constexpr const auto& table = output_fate_words;
};

struct output_change {
  std::string tensor;
  output_fate found = output_fate::same;
  std::size_t compared = 0;             ///< number of elements with finite values in both
  std::optional<double> largest = {};   ///< largest absolute difference
  std::optional<double> relative = {};  ///< `largest` / largest absolute value; empty if that is 0
  bool finite_before = true;
  bool finite_after = true;
  std::optional<std::int64_t> rows_before = {};  ///< as `output_record::rows`
  std::optional<std::int64_t> rows_after = {};
};

/// Compares outputs by name; of outputs with rows, the rows of the last frame. Two outputs without
/// rows are the same. Returns the outputs of the first run in order, then those that only
/// the second run has.
std::vector<output_change> compare(const std::vector<output_record>& before,
                                   const std::vector<output_record>& after);

}  // namespace graphline
