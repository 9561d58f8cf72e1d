#pragma once

#include <string>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/tensor_type.hpp"

namespace graphline {

/// One layer of a stage, for listings.
struct layer_summary {
  std::string name;  ///< "0.conv2d", or the name given to it
  std::string kind;
  tensor_type output;
  graphline::cost cost;
};

/// What of a stage's cost its kind has worked out; what it has not counts as not known, never as
/// none.
enum class known_cost {
  none,
  bytes,  ///< what it reads and writes, and its parameters, but not its arithmetic
  all,
};

/// What a stage kind works out from its arguments and the types it reads.
struct stage_shape {
  std::vector<tensor_type> outputs;
  graphline::cost cost;
  std::vector<layer_summary> layers;    ///< empty for stages without layers
  known_cost known = known_cost::none;  ///< of `cost`
};

}  // namespace graphline
