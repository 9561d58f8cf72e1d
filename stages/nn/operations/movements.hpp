#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "stages/nn/operations/layer_operation.hpp"
#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn {

/// A strided view of a tensor, in elements.
struct strided_part {
  std::int64_t begin = 0;
  std::vector<std::int64_t> strides;
};

/// Returns the position `beyond` (0 to 1) past element `first`, or `first` itself if `beyond` is
/// empty. Elements are clamped to the edges.
inline resize_position position_in(std::int64_t extent, double first,
                                   std::optional<double> beyond = {}) {
  const auto inside = [&](double position) {
    return static_cast<std::int64_t>(std::clamp(position, 0.0, static_cast<double>(extent - 1)));
  };
  return {inside(first), inside(first + (beyond ? 1 : 0)), static_cast<float>(beyond.value_or(0))};
}

/// Elements before, along and after an axis.
struct axis_extents {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;
};

inline axis_extents extents_along(const std::vector<std::int64_t>& extents, std::size_t axis) {
  axis_extents result{.extent = extents[axis]};
  for (std::size_t i = 0; i < axis; ++i) result.outer *= extents[i];
  for (std::size_t i = axis + 1; i < extents.size(); ++i) result.inner *= extents[i];
  return result;
}

// Views that layers copy. `strides` are those of the whole tensor.

inline strided_part part_of(const slice_layer& slice, const std::vector<std::int64_t>& strides) {
  strided_part part;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    part.begin += slice.begin[axis] * strides[axis];
    part.strides.push_back(slice.step[axis] * strides[axis]);
  }
  return part;
}

/// Returns the whole tensor, transposed.
inline strided_part part_of(const transpose_layer& transpose,
                            const std::vector<std::int64_t>& strides) {
  strided_part part;
  for (const std::size_t axis : transpose.order) part.strides.push_back(strides[axis]);
  return part;
}

/// Returns the part of a padded tensor inside the padding.
inline strided_part inside_of(const pad_layer& pad, std::vector<std::int64_t> strides) {
  std::int64_t begin = 0;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    begin += pad.before[axis] * strides[axis];
  }
  return {begin, std::move(strides)};
}

inline strided_matrices packed_matrices(const shape& extents) {
  return {extents, packed_strides(extents)};
}

/// Returns the matrices of a product, with the result's rank.
inline strided_product matrices_of(const matmul_layer& matmul, const shape& a, const shape& b,
                                   const shape& product) {
  strided_product result{matmul.a ? *matmul.a : packed_matrices(a),
                         matmul.b ? *matmul.b : packed_matrices(b),
                         matmul.product ? *matmul.product : packed_matrices(product), matmul.scale};
  const std::size_t rank = result.c.extents.rank();
  for (strided_matrices* each : {&result.a, &result.b}) {
    std::vector<std::int64_t> extents = each->extents.extents();
    const std::int64_t all = extents.front() * each->strides.front();
    const std::size_t missing = rank - extents.size();
    extents.insert(extents.begin(), missing, 1);
    each->strides.insert(each->strides.begin(), missing, all);
    each->extents = shape(std::move(extents));
  }
  return result;
}

/// The two products of attention: scores = queries * keys / sqrt(head depth), and softmax(scores) *
/// values. Both read the heads in place from the packed tensor. The second writes them in place to
/// the result [N, tokens, dim].
struct attention_products {
  strided_product scores;
  strided_product sums;
};

/// Returns the products of attention. Each row of scores begins at a multiple of `row_unit`
/// elements.
inline attention_products products_of(const attention_layer& attention, const shape& result,
                                      std::int64_t row_unit = 1) {
  const std::int64_t tokens = result[1];
  const std::int64_t dim = result[2];
  const std::int64_t depth = dim / attention.heads;
  const shape heads{result[0], attention.heads, tokens, depth};
  const auto part = [&](std::int64_t which) {
    return strided_matrices{heads, {tokens * 3 * dim, depth, 3 * dim, 1}, which * dim};
  };
  const strided_matrices keys{
      {result[0], attention.heads, depth, tokens}, {tokens * 3 * dim, depth, 1, 3 * dim}, dim};
  const std::int64_t pitch = (tokens + row_unit - 1) / row_unit * row_unit;
  const strided_matrices scores{{result[0], attention.heads, tokens, tokens},
                                {attention.heads * tokens * pitch, tokens * pitch, pitch, 1}};
  return {{part(0), keys, scores, 1.0F / std::sqrt(static_cast<float>(depth))},
          {scores, part(2), {heads, {tokens * dim, depth, dim, 1}}}};
}

/// Returns the extents of a tensor with padding.
inline shape padded_extents(const shape& s, const pad_layer& pad) {
  std::vector<std::int64_t> extents = s.extents();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    extents[axis] += pad.before[axis] + pad.after[axis];
  }
  return shape(std::move(extents));
}

}  // namespace graphline::nn
