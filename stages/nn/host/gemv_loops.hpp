#pragma once

#include <cstdint>
#include <string_view>

#include "stages/nn/operations/gemv.hpp"

namespace graphline::nn {

/// Division of rows into pieces of `piece` elements, the last shorter, so that few long rows occupy
/// all threads.
struct gemv_pieces {
  std::int64_t piece = 1;  ///< elements
  std::int64_t count = 1;  ///< per row
};

gemv_pieces pieces_of(const gemv_form& form);

/// Computes sums [begin, end) of pieces_of(form).count * form.rows() sums, ordered by piece, then
/// row; to[i] is sum i. The order of additions within a sum does not depend on the range.
using gemv_loop = void (*)(const gemv_form& form, const float* a, const float* x, float* to,
                           std::int64_t begin, std::int64_t end);

/// Loops compiled for an instruction set.
struct gemv_code {
  std::string_view instructions;  ///< "AVX2"
  gemv_loop loop = nullptr;
};

/// Loops that this CPU can run, fastest first; the last runs on any CPU.
const std::vector<gemv_code>& gemv_codes();

}  // namespace graphline::nn
