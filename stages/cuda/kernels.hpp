#pragma once

#include <span>
#include <string>

#include "stages/cuda/kernel_forms.hpp"

namespace graphline {

/// Enqueues a kernel on a CUDA stream, `operands` as its form states them, in device memory. No
/// allocation; may run under a capture. `owner` ("stage 'head', layer '0.gelu'") is named in the
/// `cuda_error` of a launch that fails.
void enqueue_kernel(const kernel_form& form, std::span<void* const> operands, void* cuda_stream,
                    const std::string& owner);

}  // namespace graphline
