#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "framework/stage/stage.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/cuda_program.hpp"
#include "stages/matmul.hpp"

namespace graphline {

/// Where one of several like products begins, in elements.
struct product_offsets {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t d = 0;
};

/// A batched product as calls of one library product, one per entry of `calls`.
struct product_calls {
  product_form form;
  std::vector<product_offsets> calls;
};

/// A dimension along which a product is repeated: its extent and how far apart neighbors are, 0
/// where broadcast.
struct batch_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t d = 0;
};

/// A product that is repeated along these dimensions, outermost first, from `first` on, in as few
/// calls as they allow: the longest is a strided batch, the others are one call each.
product_calls batched_calls(const product_form& form, std::vector<batch_axis> axes,
                            const product_offsets& first = {});

/// Its operands on these buffers, call by call.
std::vector<std::vector<cuda_operand>> operands_of(const product_calls& product, std::size_t a,
                                                   std::size_t b, std::size_t d);

/// The product in as few calls as its strides allow: leading dimensions that one operand is
/// broadcast along become rows of the other, the longest of what is left a strided batch, the rest
/// one call each.
product_calls collapse_product(const matmul_form& form, precision p);

/// A stage that is such a product on a `cuda` device, by cuBLASLt; `kind` names it. Throws
/// `run_error` when the library cannot be had or has nothing for the product.
std::unique_ptr<device_stage> make_product_cuda(device& d, const matmul_form& form,
                                                const char* kind, const stage_config& config);

}  // namespace graphline
