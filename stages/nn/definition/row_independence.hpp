#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stages/nn/definition/definition.hpp"

namespace graphline::nn {

/// Returns which layer combines rows of the network's inputs, or may do so: "layer '1.softmax'
/// combines or reorders rows". Empty if row i of each output depends only on row i of the inputs.
/// @param with_rows for each input, whether its first dimension counts rows
std::string combined_rows(const network_definition& network, const std::vector<bool>& with_rows);

/// Rows whose number is known only when the network runs, such as those of kept boxes.
struct counted_rows {
  std::size_t count = 0;      ///< the value with the number of rows, [1]
  std::int64_t capacity = 0;  ///< extent of the dimension along which they lie
  std::int64_t stride = 0;    ///< of that dimension
};
using counted_values = std::map<std::size_t, counted_rows>;  ///< by value

/// Adds the outputs of a layer that have counted rows. Returns false if the layer combines counted
/// rows, reorders them or gives them along another dimension, or may do so.
bool carry_counted_rows(const network_definition& network, const network_layer& layer,
                        counted_values& counted);

}  // namespace graphline::nn
