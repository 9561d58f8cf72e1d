#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn {

/// Evaluates a pointwise expression on tensors in blocks that fit the L1 cache, so that
/// intermediate results stay there.
class pointwise_loops {
 public:
  /// `space` contains the strides of the operands, then of the results.
  pointwise_loops(pointwise_expression expression, const pointwise_space& space);

  /// Evaluates the blocks on the compute threads. A result may alias an operand with the same
  /// strides.
  void run(std::span<const float* const> operands, std::span<float* const> results) const;

  /// Returns the instruction set of the loops: "AVX-512".
  static std::string_view instructions();

 private:
  pointwise_expression expression_;
  pointwise_space space_;
  std::int64_t plane_ = 1;  ///< number of positions in the last two extents
  std::int64_t blocks_of_plane_ = 1;
  std::int64_t blocks_ = 1;  ///< blocks in the whole space
};

}  // namespace graphline::nn
