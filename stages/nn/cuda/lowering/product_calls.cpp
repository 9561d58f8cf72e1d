#include "stages/nn/cuda/lowering/product_calls.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn {
namespace {

/// A batch dimension: its extent and strides; a stride of 0 broadcasts.
struct batch_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t d = 0;
};

/// Returns the leading dimensions without extents of 1. Merges dimensions that are contiguous in
/// all tensors.
std::vector<batch_axis> axes_of(const strided_product& product) {
  pointwise_space batch{product.c.extents.extents(), {}};
  for (const strided_matrices* of : {&product.a, &product.b, &product.c}) {
    batch.strides.push_back(broadcast_strides(of->extents, of->strides, product.c.extents));
  }
  batch.extents.resize(batch.extents.size() - 2);
  batch = collapsed(batch);
  std::vector<batch_axis> axes;
  for (std::size_t i = 0; i < batch.extents.size(); ++i) {
    axes.push_back(
        {batch.extents[i], batch.strides[0][i], batch.strides[1][i], batch.strides[2][i]});
  }
  return axes;
}

struct matrix_lines {
  bool transposed = false;
  std::int64_t leading = 0;
};

matrix_lines lines_of(const strided_matrices& of) {
  const std::size_t rank = of.extents.rank();
  const std::int64_t rows = of.extents[rank - 2];
  const std::int64_t columns = of.extents[rank - 1];
  // A column needs no transposition.
  const bool transposed = columns > 1 && of.strides[rank - 1] != 1;
  if (transposed) return {true, of.strides[rank - 1]};
  return {false, rows == 1 ? columns : of.strides[rank - 2]};
}

product_form single_product(const strided_product& product, precision p) {
  const std::size_t rank = product.c.extents.rank();
  const matrix_lines a = lines_of(product.a);
  const matrix_lines b = lines_of(product.b);
  return {.m = product.c.extents[rank - 2],
          .n = product.c.extents[rank - 1],
          .k = product.a.extents[rank - 1],
          .transpose_a = a.transposed,
          .transpose_b = b.transposed,
          .a_leading = a.leading,
          .b_leading = b.leading,
          .d_leading = lines_of(product.c).leading,
          .scale = product.scale,
          .precision = p};
}

/// If b is broadcast along an axis and the rows stay evenly spaced, merges the axis into m and
/// returns true.
bool merge_into_rows(product_form& form, const batch_axis& axis) {
  if (axis.b != 0 || form.transpose_a) return false;
  const bool follows = axis.a == form.m * form.a_leading && axis.d == form.m * form.d_leading;
  if (form.m > 1 && !follows) return false;
  if (form.m == 1) {
    form.a_leading = axis.a;
    form.d_leading = axis.d;
  }
  form.m *= axis.extent;
  return true;
}

/// Returns the alignment of the operands in all calls, for tensors aligned to 16 bytes.
product_alignment alignment_of(const std::vector<product_offsets>& calls, std::size_t bytes) {
  product_alignment divides;
  const auto at = [&](std::size_t& alignment, std::int64_t offset) {
    alignment = std::gcd(alignment, static_cast<std::size_t>(offset) * bytes);
  };
  for (const product_offsets& call : calls) {
    at(divides.a, call.a);
    at(divides.b, call.b);
    at(divides.d, call.d);
  }
  return divides;
}

/// Repeats a product along these dimensions, starting at `first`. The longest dimension becomes a
/// strided batch; each index of the others becomes a call.
product_calls batched_calls(const product_form& form, std::vector<batch_axis> axes,
                            const product_offsets& first) {
  product_calls result{.form = form, .calls = {first}};
  std::erase_if(axes, [](const batch_axis& axis) { return axis.extent == 1; });
  const auto longest = std::max_element(
      axes.begin(), axes.end(),
      [](const batch_axis& x, const batch_axis& y) { return x.extent < y.extent; });
  if (longest != axes.end()) {
    result.form.batch = longest->extent;
    result.form.a_stride = longest->a;
    result.form.b_stride = longest->b;
    result.form.d_stride = longest->d;
    axes.erase(longest);
  }
  for (const batch_axis& axis : axes) {
    std::vector<product_offsets> all;
    for (const product_offsets& begin : result.calls) {
      for (std::int64_t i = 0; i < axis.extent; ++i) {
        all.push_back({begin.a + i * axis.a, begin.b + i * axis.b, begin.d + i * axis.d});
      }
    }
    result.calls = std::move(all);
  }
  result.form.alignment = alignment_of(result.calls, element_bytes(form.precision));
  return result;
}

}  // namespace

std::vector<std::vector<cuda_operand>> operands_of(const product_calls& product, std::size_t a,
                                                   std::size_t b, std::size_t d) {
  const std::size_t bytes = element_bytes(product.form.precision);
  const auto at = [&](std::size_t buffer, std::int64_t offset) {
    return cuda_operand(buffer, static_cast<std::size_t>(offset) * bytes);
  };
  std::vector<std::vector<cuda_operand>> operands;
  for (const product_offsets& call : product.calls) {
    operands.push_back({at(a, call.a), at(b, call.b), at(d, call.d)});
  }
  return operands;
}

product_calls collapse_product(const strided_product& product, precision p) {
  product_form form = single_product(product, p);
  std::vector<batch_axis> axes = axes_of(product);
  // With one row, any axis can become rows, and the longest is best. With several rows, only a
  // contiguous axis can.
  std::vector<std::size_t> order(axes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  if (form.m == 1) {
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return axes[i].extent; });
  }
  for (const std::size_t i : order) {
    if (merge_into_rows(form, axes[i])) axes[i].extent = 1;
  }
  return batched_calls(form, std::move(axes),
                       {product.a.offset, product.b.offset, product.c.offset});
}

}  // namespace graphline::nn
