#pragma once

// Reference products by plain sums.

#include <cstddef>
#include <span>
#include <vector>

#include "stages/nn/cuda/cuda_library.hpp"

namespace graphline::nn {

using numbers = std::vector<float>;

/// A product of packed matrices.
product_form packed_product(std::int64_t m, std::int64_t n, std::int64_t k);

/// Forms with every transposition, gaps between rows, extents of 1, shared matrices in batches,
/// bias and relu.
std::vector<product_form> sample_products();

/// Operands of these sizes: integers from -3 to 3, exact in every precision together with their
/// products and sums; the output is zero.
std::vector<numbers> whole_operands(std::span<const std::size_t> bytes);

/// The form's product of the operands; gaps between rows stay zero. Supports relu only.
numbers expected_product(const product_form& form, const std::vector<numbers>& operands);

}  // namespace graphline::nn
