#pragma once

#include <cstdint>

#include "framework/base/cost.hpp"
#include "stages/nn/host/vector_math.hpp"
#include "stages/nn/operations/gemv.hpp"

namespace graphline::nn {

struct host_program;

/// Lowers a matrix-vector product to loops that read each matrix row once.
host_program lower_gemv_for_host(const strided_product& product, const cost& counted);

/// Division of rows into pieces of `piece` elements, so that few long rows occupy all threads. The
/// last piece may be shorter.
struct gemv_pieces {
  std::int64_t piece = 1;  ///< elements per piece
  std::int64_t count = 1;  ///< pieces per row
};

gemv_pieces pieces_of(const gemv_form& form);

/// Computes sums [begin, end) of pieces_of(form).count * form.rows() sums, ordered by piece, then
/// by row; writes sum i to to[i]. The order of additions does not depend on the range.
using gemv_code = vector_code<const gemv_form&, const float* /*a*/, const float* /*x*/,
                              float* /*to*/, std::int64_t /*begin*/, std::int64_t /*end*/>;

/// Returns the loops that this CPU can run, fastest first. The last loop runs on any CPU.
const std::vector<gemv_code>& gemv_codes();

}  // namespace graphline::nn
