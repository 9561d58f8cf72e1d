#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/diff/saved_result.hpp"

namespace graphline {

/// Something of the result before and of the one after.
template <class T>
struct before_after {
  T before;
  T after;
};

/// A figure before and after; nothing where a result does not carry it.
struct figure_change : before_after<std::optional<double>> {
  /// after / before - 1; nothing unless both are known and there is something to be a part of.
  std::optional<double> relative() const noexcept;
};

/// A fact that is not the same in both; nothing where a result does not state it.
struct fact_change {
  std::string name;
  before_after<std::optional<std::string>> texts;
};

/// Facts that differ: those of the first in its order, then what only the second has.
std::vector<fact_change> differences(const saved_facts& before, const saved_facts& after);

/// What differs in how two results came about; dates apart.
struct origin_diff {
  before_after<saved_origin> origins;
  std::vector<fact_change> device;
  std::vector<fact_change> settings;
  std::vector<fact_change> environment;
  std::vector<fact_change> source;  ///< what was written, key by key
  std::string source_unknown;       ///< why that could not be compared; empty where it was

  /// Whether both are of a kind that is made from files.
  bool has_source() const { return origins.before.sources && origins.after.sources; }

  bool other_subject() const { return origins.before.subject != origins.after.subject; }
};

origin_diff compare(const saved_origin& before, const saved_origin& after);

}  // namespace graphline
