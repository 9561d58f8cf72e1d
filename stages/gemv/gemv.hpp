#pragma once

#include <memory>
#include <optional>
#include <span>

#include "framework/stage/stage.hpp"
#include "stages/matmul.hpp"

namespace graphline {

/// The product of these inputs, with one column; reports what does not fit and answers nothing.
std::optional<matmul_form> gemv_of(const arguments& values, std::span<const tensor_type> inputs,
                                   diagnostics& out);

/// That of a stage whose arguments have been checked. Throws `diagnostic_error` where they do not
/// fit after all.
matmul_form gemv_of(const stage_config& config);

/// Whether the project's own loops and kernels are asked for instead of a library.
bool fused_of(const arguments& values);

/// The `gemv` stage on a `host` device: by oneDNN, or by loops of its own.
std::unique_ptr<device_stage> make_gemv_host(device& d, const stage_config& config);

}  // namespace graphline
