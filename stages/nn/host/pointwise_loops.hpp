#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn {

/// A pointwise expression on tensors in memory, carried out in blocks that stay in a core's first
/// cache: nothing between its steps goes to memory.
class pointwise_loops {
 public:
  /// `space` has the strides of the operands, then those of the results.
  pointwise_loops(pointwise_expression expression, const pointwise_space& space);

  /// Shares blocks among the compute threads. A result may be an operand that lies alike.
  void run(std::span<const float* const> operands, std::span<float* const> results) const;

  /// What the loops are compiled for: "AVX-512".
  static std::string_view instructions();

 private:
  pointwise_expression expression_;
  pointwise_space space_;
  std::int64_t plane_ = 1;  ///< positions of the last two extents
  std::int64_t blocks_of_plane_ = 1;
  std::int64_t blocks_ = 1;  ///< of all
};

}  // namespace graphline::nn
