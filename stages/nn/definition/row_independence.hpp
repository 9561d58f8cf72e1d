#pragma once

#include <string>
#include <vector>

#include "stages/nn/definition/definition.hpp"

namespace graphline::nn {

/// Returns which layer combines rows of the network's inputs, or may do so: "layer '1.softmax'
/// combines or reorders rows". Empty if row i of each output depends only on row i of the inputs.
/// @param with_rows for each input, whether its first dimension counts rows
std::string combined_rows(const network_definition& network, const std::vector<bool>& with_rows);

}  // namespace graphline::nn
