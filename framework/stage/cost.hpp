#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/tensor_type.hpp"

namespace graphline {

/// What a piece of work amounts to, whatever runs it. Conventions: one MAC is two FLOPs; bytes
/// count each input, weight and output once; element-wise layers, pools and norms count the
/// arithmetic of their formula in `flops` and no MACs. docs/costs.md has every formula.
struct cost {
  std::int64_t parameters = 0;  ///< weights, as a number of elements
  std::int64_t macs = 0;
  std::int64_t flops = 0;  ///< 2 * macs plus the rest
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;

  cost& operator+=(const cost& other) noexcept {
    parameters += other.parameters;
    macs += other.macs;
    flops += other.flops;
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    return *this;
  }
};

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
