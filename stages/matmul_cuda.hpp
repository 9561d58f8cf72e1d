#pragma once

#include <memory>

#include "framework/stage/stage.hpp"
#include "stages/matmul.hpp"

namespace graphline {

/// The `matmul` stage on a `cuda` device, by cuBLASLt. Throws `run_error` when the library cannot
/// be had or has nothing for the product.
std::unique_ptr<device_stage> make_matmul_cuda(device& d, const stage_config& config);

/// A stage of another kind that is such a product, likewise; `kind` names it.
std::unique_ptr<device_stage> make_product_cuda(device& d, const matmul_form& form,
                                                const char* kind, const stage_config& config);

}  // namespace graphline
