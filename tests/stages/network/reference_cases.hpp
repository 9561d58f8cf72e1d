#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "framework/spec/node.hpp"
#include "framework/stage/stage.hpp"

namespace graphline::test {

/// A network of cases.yaml with PyTorch's results.
struct reference_case {
  std::string name;
  std::vector<std::string> inputs;   ///< their names
  std::vector<std::string> outputs;  ///< likewise
  std::vector<tensor_type> types;    ///< of the inputs
  arguments values;                  ///< of the stage, with weights where some are stored

  /// Name in failure messages.
  friend void PrintTo(const reference_case& printed, std::ostream* to) { *to << printed.name; }
};

std::vector<reference_case> reference_cases();

/// Reads a file like cases.yaml: a case has a `shape`, of "input", or `inputs` with a shape each
/// and `outputs`.
std::vector<reference_case> cases_in(const std::string& path);

/// A list of numbers.
shape shape_of(const node& written);

}  // namespace graphline::test
