#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stages/cuda/cuda_library.hpp"

namespace graphline {

/// Everything in a form, as text: two forms of the same text are the same operation. Part of the
/// keys of the tuning cache.
std::string to_text(const convolution_form& form);
std::string to_text(const product_form& form);
std::string to_text(const pointwise_form& form);

/// Bytes that each operand of a form spans, in their order.
std::vector<std::size_t> operand_bytes(const convolution_form& form);
std::vector<std::size_t> operand_bytes(const product_form& form);
std::vector<std::size_t> operand_bytes(const pointwise_form& form);

}  // namespace graphline
