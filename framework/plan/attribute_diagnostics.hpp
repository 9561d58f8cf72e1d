#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/experiment_unit.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline::planning {

/// Tells each thing once, however many configurations found it.
class telling_once {
 public:
  /// What `out` holds already counts as told.
  explicit telling_once(diagnostics& out);
  void operator()(const diagnostic& d);
  void operator()(const diagnostics& list);

 private:
  diagnostics& out_;
  std::set<std::tuple<std::string, std::size_t, std::size_t, std::string>> told_;
};

/// Reports what was found while units on one pipeline file were planned. What all of them found is
/// in that file, or is common to them, and is shown at its own place; so is a wrong value of the
/// experiment file. What only some found is shown where the experiment declares them, with their
/// names and a remedy.
void attribute_diagnostics(const experiment_spec& spec,
                           const std::vector<const experiment_unit*>& units, telling_once& tell);

}  // namespace graphline::planning
