#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn {

/// Evaluates a pointwise expression on tensors in blocks that fit the L1 cache; intermediate
/// results never reach memory.
class pointwise_loops {
 public:
  /// `space` has the strides of the operands, then those of the results.
  pointwise_loops(pointwise_expression expression, const pointwise_space& space);

  /// Divides the blocks among the compute threads. A result may alias an operand with the same
  /// strides.
  void run(std::span<const float* const> operands, std::span<float* const> results) const;

  /// Instruction set of the loops: "AVX-512".
  static std::string_view instructions();

 private:
  pointwise_expression expression_;
  pointwise_space space_;
  std::int64_t plane_ = 1;  ///< positions of the last two extents
  std::int64_t blocks_of_plane_ = 1;
  std::int64_t blocks_ = 1;  ///< of all
};

}  // namespace graphline::nn
