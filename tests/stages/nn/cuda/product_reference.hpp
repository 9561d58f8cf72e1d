#pragma once

// Products and their results by sums written out, to hold libraries against.

#include <cstddef>
#include <span>
#include <vector>

#include "stages/nn/cuda/cuda_library.hpp"

namespace graphline::nn {

using numbers = std::vector<float>;

/// A product of packed matrices.
product_form packed_product(std::int64_t m, std::int64_t n, std::int64_t k);

/// Of every transposition, with gaps between rows, extents of 1, shared matrices in batches, bias
/// and relu.
std::vector<product_form> sample_products();

/// Operands of those sizes: whole numbers from -3 to 3, which every precision holds as it does
/// their products and sums; the last one, which is written, of zeros.
std::vector<numbers> whole_operands(std::span<const std::size_t> bytes);

/// The form's product of the operands; what lies between its rows stays zero. Of activations relu.
numbers expected_product(const product_form& form, const std::vector<numbers>& operands);

}  // namespace graphline::nn
