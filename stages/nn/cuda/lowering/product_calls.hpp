#pragma once

#include <cstdint>
#include <vector>

#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/cuda_program.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

/// Operand offsets of one call, in elements.
struct product_offsets {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t d = 0;
};

/// A batched product as calls of one library operation.
struct product_calls {
  product_form form;
  std::vector<product_offsets> calls;
};

std::vector<std::vector<cuda_operand>> operands_of(const product_calls& product, std::size_t a,
                                                   std::size_t b, std::size_t d);

/// Returns the product in as few calls as its strides allow. Leading dimensions along which b is
/// broadcast become rows of a. The longest other dimension becomes a strided batch, and each index
/// of the rest becomes a call.
product_calls collapse_product(const strided_product& product, precision p);

}  // namespace graphline::nn
