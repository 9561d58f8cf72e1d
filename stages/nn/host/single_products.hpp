#pragma once

#include <string>

#include "framework/base/precision.hpp"
#include "stages/nn/onednn/onednn_program.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline::nn {

/// Lowers a product to a oneDNN call, on the worker thread of a `host` device. `name` names
/// operation and part, `owner` leads messages, `asked` is the precision for reports. @throws
/// run_error if oneDNN refuses the product.
host_program lower_product_for_host(device& d, const matmul_form& form, const char* name,
                                    const std::string& owner, precision asked);

/// Lowers a matrix-vector product to loops that read each matrix row once.
host_program lower_gemv_for_host(const matmul_form& form);

}  // namespace graphline::nn
