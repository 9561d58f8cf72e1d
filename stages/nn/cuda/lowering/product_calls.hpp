#pragma once

#include <cstdint>
#include <vector>

#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/cuda_program.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

/// Where one of several like products begins, in elements.
struct product_offsets {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t d = 0;
};

/// A batched product as calls of one library product, one per entry of `calls`.
struct product_calls {
  product_form form;
  std::vector<product_offsets> calls;
};

/// Its operands on these buffers, call by call.
std::vector<std::vector<cuda_operand>> operands_of(const product_calls& product, std::size_t a,
                                                   std::size_t b, std::size_t d);

/// The product in as few calls as its strides allow: leading dimensions that one operand is
/// broadcast along become rows of the other, the longest of what is left a strided batch, the rest
/// one call each.
product_calls collapse_product(const strided_product& product, precision p);

}  // namespace graphline::nn
