#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stages/nn/onnx/onnx_call.hpp"

namespace graphline::nn::onnx {

/// What an `Einsum` says: a label for each dimension of its inputs and of what it gives. Dimensions
/// of an ellipsis have labels of their own, counted from the last.
struct einsum_form {
  using labels = std::vector<int>;
  std::vector<labels> inputs;
  labels output;
  std::map<int, std::int64_t> extents;  ///< by label
};
einsum_form einsum_of(const onnx_call& call);

/// What it gives of constants.
onnx_tensor evaluated_einsum(const onnx_call& call);

}  // namespace graphline::nn::onnx
