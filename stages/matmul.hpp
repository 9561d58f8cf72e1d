#pragma once

#include <memory>
#include <optional>
#include <span>

#include "framework/stage/stage.hpp"

namespace graphline {

/// A batched matrix product in one rank: [batch..., m, k] x [batch..., k, n] -> [batch..., m, n],
/// with leading extents of 1 where an operand is broadcast.
struct matmul_form {
  shape a;  ///< after transposing
  shape b;
  shape c;
  bool transpose_a = false;  ///< in memory the last two extents of `a` are swapped
  bool transpose_b = false;
};

/// The product of these inputs by the rules of torch.matmul for ranks of at least 2; reports what
/// does not fit and answers nothing.
std::optional<matmul_form> matmul_of(const arguments& values, std::span<const tensor_type> inputs,
                                     diagnostics& out);

/// What it amounts to: both operands as they are, before broadcasting, and the product.
cost cost_of(const matmul_form& form);

/// The `matmul` stage on a `host` device, by oneDNN.
std::unique_ptr<device_stage> make_matmul_host(device& d, const stage_config& config);

}  // namespace graphline
