#pragma once

// What the kinds `matmul` and `gemv` share.

#include <memory>
#include <optional>
#include <span>

#include "framework/stage/stage.hpp"
#include "stages/nn/operations/product.hpp"

namespace graphline {

/// A product as it is asked for, and what messages call it and its operands.
struct wanted_product {
  const char* kind = "matmul";
  const char* a = "a";
  const char* b = "b";
  bool transpose_a = false;
  bool transpose_b = false;
};

/// The product of these inputs by the rules of torch.matmul for ranks of at least 2; reports at
/// `where` what does not fit and answers nothing.
std::optional<nn::matmul_form> product_of(const wanted_product& wanted,
                                          std::span<const tensor_type> inputs, const place& where,
                                          diagnostics& out);

/// That of a `matmul` stage whose arguments have been checked.
nn::matmul_form matmul_of(const stage_config& config);

/// That of a `gemv` stage, likewise.
nn::matmul_form gemv_of(const stage_config& config);

/// Whether the project's own loops and kernels are asked for instead of a library.
bool fused_of(const arguments& values);

/// The product's type with its cost. Reports one that nobody would wait for, of a stage of that
/// kind.
stage_shape shape_of(const nn::matmul_form& form, const char* kind, const place& where,
                     diagnostics& out);

/// Stages of a product on a `host` device: of either kind by oneDNN, `kind` naming the operation,
/// and a `gemv` stage as its method says.
std::unique_ptr<device_stage> make_product_host(device& d, const nn::matmul_form& form,
                                                const char* kind, const stage_config& config);
std::unique_ptr<device_stage> make_gemv_host(device& d, const stage_config& config);

}  // namespace graphline
