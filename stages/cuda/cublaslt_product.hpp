#pragma once

#include <memory>
#include <string>

#include "stages/cuda/cublaslt_handle.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/plan_choices.hpp"

namespace graphline {

/// The plans for a form on the handle's device, at least one. All give the same bits at each run:
/// where a sum is made in parts, these are kept in float32 and added in a fixed order. None of
/// `float32` uses tensor cores. Null, and the reason in `why_not`, when there is none.
std::unique_ptr<plan_choices> make_product_plans(const product_form& form,
                                                 std::shared_ptr<cublaslt_handle> handle,
                                                 std::string& why_not);

}  // namespace graphline
