#pragma once

#include <string>
#include <vector>

#include "tests/stages/network/reference_cases.hpp"

namespace graphline::test {

/// Kinds of layers, and names of cases, that no kernel of `cuda` carries out yet; where one does,
/// `layers_without_kernels` fails.
const std::vector<std::string>& layers_not_on_cuda();

/// The reference cases with one input and one output that have none of these layers.
std::vector<reference_case> cases_on_cuda();

/// Those that have no other of them than this one.
std::vector<reference_case> cases_with_only(const std::string& kind);

}  // namespace graphline::test
