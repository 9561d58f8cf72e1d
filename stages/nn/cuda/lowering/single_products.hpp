#pragma once

#include <string>

#include "framework/base/precision.hpp"
#include "stages/nn/cuda/cuda_program.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

// Programs of a single product for `cuda` devices.

struct product_target {
  cuda_library& library;
  graphline::precision precision = graphline::precision::float32;
  std::string name;       ///< of the part: "matmul"
  std::string owner;      ///< leads messages: "stage 'scores'"
  std::string parameter;  ///< parameter that messages say to change: "precision"
};

/// Lowers a product of float32 tensors. @throws run_error if the library cannot run the product.
cuda_program lower_product_for_cuda(const matmul_form& form, const product_target& target);

/// Lowers a product with one column to a kernel that reads each row once. `owner` leads messages.
cuda_program lower_gemv_for_cuda(const matmul_form& form, const std::string& owner);

}  // namespace graphline::nn
