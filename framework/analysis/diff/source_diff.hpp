#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// A value of the result before and of the one after.
template <class T>
struct before_after {
  T before;
  T after;
};

/// A fact that differs between results; empty if a result does not state it.
struct fact_change {
  std::string name;
  before_after<std::optional<std::string>> texts;
};

/// Compares the source files of two results line by line. Each difference is named by file and line
/// ("path.yaml:7"; line number of the first file if present). Ignores blank lines, comment lines
/// and surrounding white space. Matches the first files with each other, further ones by name.
std::vector<fact_change> differences(const std::vector<source_record>& before,
                                     const std::vector<source_record>& after);

}  // namespace graphline
