#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

template <class T>
struct before_after {
  T before;
  T after;
};

/// A fact that differs between results. A text is empty if its result does not contain the fact.
struct fact_change {
  std::string name;
  before_after<std::optional<std::string>> texts;
};

/// Compares the source files of two results line by line. Names each difference by file and line:
/// "path.yaml:7". The number is the line's in the first result or, for an added line, in the
/// second. Ignores blank lines, comment lines and surrounding white space. Matches the first file
/// of each result with each other, and all other files by name.
std::vector<fact_change> differences(const std::vector<source_record>& before,
                                     const std::vector<source_record>& after);

}  // namespace graphline
