#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// Something of the result before and of the one after.
template <class T>
struct before_after {
  T before;
  T after;
};

/// A fact that is not the same in both; nothing where a result does not state it.
struct fact_change {
  std::string name;
  before_after<std::optional<std::string>> texts;
};

/// The lines that differ in the files that two results were made from, each by its file and number
/// ("path.yaml:7", that of the first file where it is there). Blank lines, lines that hold only a
/// comment, and white space around a line are no difference.
///
/// The first file of each is compared with the first of the other, further ones by name.
std::vector<fact_change> differences(const std::vector<source_record>& before,
                                     const std::vector<source_record>& after);

}  // namespace graphline
