#pragma once

#include <cstdint>
#include <string_view>

#include "stages/nn/operations/gemv.hpp"

namespace graphline::nn {

/// How the loops on the CPU go about rows: in pieces of `piece` elements, the last one shorter, so
/// that few long rows are work for all threads.
struct gemv_pieces {
  std::int64_t piece = 1;  ///< elements
  std::int64_t count = 1;  ///< to a row
};

gemv_pieces pieces_of(const gemv_form& form);

/// The sums of some pieces of rows: those that [begin, end) of pieces_of(form).count * form.rows()
/// count, all rows' first pieces first; to[i] is the sum of the i-th of all. Every sum is made in
/// the same order of additions, whatever the range.
using gemv_loop = void (*)(const gemv_form& form, const float* a, const float* x, float* to,
                           std::int64_t begin, std::int64_t end);

/// Loops for a set of instructions.
struct gemv_code {
  std::string_view instructions;  ///< "AVX2"
  gemv_loop loop = nullptr;
};

/// What this CPU can run, the fastest first; the last runs anywhere.
const std::vector<gemv_code>& gemv_codes();

}  // namespace graphline::nn
