#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "framework/spec/node.hpp"
#include "framework/stage/stage.hpp"

namespace graphline::test {

/// A network of cases.yaml, which PyTorch has computed too.
struct reference_case {
  std::string name;
  shape input;
  node layers;

  /// How a failed test calls it.
  friend void PrintTo(const reference_case& printed, std::ostream* to) { *to << printed.name; }
};

std::vector<reference_case> reference_cases();

/// Those of a file like cases.yaml.
std::vector<reference_case> cases_in(const std::string& path);

/// A list of numbers.
shape shape_of(const node& written);

/// The arguments of a network with these layers, and with the case's weights where some are stored.
arguments arguments_of(const reference_case& wanted);

}  // namespace graphline::test
