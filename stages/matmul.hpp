#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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

/// Matrices [batch..., rows, columns], 1 along what they are broadcast along, and where their
/// elements lie, in elements: one after the other in each row or in each column.
struct strided_matrices {
  shape extents;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

/// A batched product of matrices in one rank, times a number.
struct strided_product {
  strided_matrices a;
  strided_matrices b;
  strided_matrices c;
  float scale = 1;
};

/// Matrices that follow each other row by row.
strided_matrices packed_matrices(const shape& extents);

strided_product strided(const matmul_form& form);

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
std::optional<matmul_form> product_of(const wanted_product& wanted,
                                      std::span<const tensor_type> inputs, const place& where,
                                      diagnostics& out);

/// That of a `matmul` stage whose arguments have been checked.
matmul_form matmul_of(const stage_config& config);

/// What it amounts to: both operands as they are, before broadcasting, and the product.
cost cost_of(const matmul_form& form);

/// The product's type with its cost. Reports one that nobody would wait for, of a stage of that
/// kind.
stage_shape shape_of(const matmul_form& form, const char* kind, const place& where,
                     diagnostics& out);

/// A stage that is such a product on a `host` device, by oneDNN; `kind` names its operation.
std::unique_ptr<device_stage> make_product_host(device& d, const matmul_form& form,
                                                const char* kind, const stage_config& config);

}  // namespace graphline
