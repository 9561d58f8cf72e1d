#include "stages/nn/operations/product.hpp"

#include <utility>

#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn {

strided_matrices packed_matrices(const shape& extents) {
  return {extents, packed_strides(extents)};
}

strided_product strided(const matmul_form& form) {
  const auto as_stored = [](const shape& extents, bool transposed) {
    if (!transposed) return packed_matrices(extents);
    const auto swap_last = [](std::vector<std::int64_t> of) {
      std::swap(of[of.size() - 1], of[of.size() - 2]);
      return of;
    };
    return strided_matrices{extents,
                            swap_last(packed_strides(shape(swap_last(extents.extents()))))};
  };
  return {as_stored(form.a, form.transpose_a), as_stored(form.b, form.transpose_b),
          packed_matrices(form.c)};
}

cost cost_of(const matmul_form& form) {
  const std::int64_t macs = form.c.elements() * form.depth();
  return {.macs = macs,
          .flops = 2 * macs,
          .bytes_read = 4 * (form.a.elements() + form.b.elements()),
          .bytes_written = 4 * form.c.elements()};
}

}  // namespace graphline::nn
