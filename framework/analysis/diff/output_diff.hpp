#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What became of an output from one run to another.
enum class output_fate {
  same,         ///< by checksum
  differs,      ///< by checksum; `largest` says by how much where both have values
  other_type,   ///< shape or dtype are not the same
  only_before,  ///< no output of this name after
  only_after,   ///< nor before
};
inline constexpr word<output_fate> output_fate_words[] = {{"same", output_fate::same},
                                                          {"differs", output_fate::differs},
                                                          {"other_type", output_fate::other_type},
                                                          {"only_before", output_fate::only_before},
                                                          {"only_after", output_fate::only_after}};
template <>
struct words_of<output_fate> {
  static constexpr const auto& table = output_fate_words;
};

/// An output of either of two runs, by name.
struct output_change {
  std::string tensor;
  output_fate found = output_fate::same;
  std::size_t compared = 0;             ///< values that both have and that are numbers
  std::optional<double> largest = {};   ///< difference of two such values
  std::optional<double> relative = {};  ///< that over the largest value by size; nothing if 0
  bool finite_before = true;
  bool finite_after = true;
};

/// Those of the first in its order, then the others.
std::vector<output_change> compare(const std::vector<output_record>& before,
                                   const std::vector<output_record>& after);

}  // namespace graphline
