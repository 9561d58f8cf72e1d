#include <fmt/format.h>
#include <omp.h>

#include <utility>

#include "stages/nn/host/gemv_loops.hpp"
#include "stages/nn/onednn/onednn_program.hpp"
#include "stages/nn/operations/gemv.hpp"

namespace graphline::nn {

namespace {

std::int64_t share(std::int64_t all, std::int64_t part, std::int64_t parts) {
  return all / parts * part + all % parts * part / parts;
}

/// Computes y. The compute threads share the rows and their pieces. `sums` takes the sums of the
/// pieces; it is y if each row has one piece.
void run_gemv(const gemv_form& form, const gemv_code& code, const float* a, const float* x,
              float* y, float* sums) {
  // With fewer elements, waking threads takes longer than the work.
  constexpr std::int64_t few_elements = 16384;
  const std::int64_t pieces = pieces_of(form).count;
  const std::int64_t rows = form.rows();
  const std::int64_t all = rows * pieces;
#pragma omp parallel if (rows > few_elements / form.k)
  {
    const std::int64_t threads = omp_get_num_threads();
    const std::int64_t mine = omp_get_thread_num();
    code.run(form, a, x, sums, share(all, mine, threads), share(all, mine + 1, threads));
  }
  if (pieces == 1) return;
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::int64_t i = row; i < all; i += rows) sum += static_cast<double>(sums[i]);
    y[row] = static_cast<float>(sum);
  }
}

}  // namespace

host_program lower_gemv_for_host(const strided_product& product, const cost& counted) {
  const gemv_form form = collapse_rows(product);
  const gemv_code code = gemv_codes().front();
  const std::int64_t pieces = pieces_of(form).count;
  host_program made;
  const auto operand = [&](buffer_place place, std::int64_t elements, std::size_t tensor = 0) {
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
    return host_value{made.add_buffer(place, bytes, tensor), {}};
  };
  const host_value a = operand(buffer_place::input, product.a.extents.elements(), 0);
  const host_value x = operand(buffer_place::input, product.b.extents.elements(), 1);
  std::vector<host_operand> results{operand(buffer_place::output, product.c.extents.elements())};
  if (pieces > 1) results.emplace_back(operand(buffer_place::scratch, pieces * form.rows()));
  made.add_loops(fmt::format("gemv [fused, {}]", code.instructions), {a, x}, results,
                 [form, code](const auto& from, const auto& to) {
                   run_gemv(form, code, from[0], from[1], to.front(), to.back());
                 });
  made.parts = {
      {"gemv", fmt::format("loops of its own, {}", code.instructions), counted, made.steps.size()}};
  made.place_buffers();
  return made;
}

}  // namespace graphline::nn
