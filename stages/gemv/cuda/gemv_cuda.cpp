#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "stages/cuda/cuda_program.hpp"
#include "stages/gemv/gemv.hpp"
#include "stages/kinds.hpp"
#include "stages/matmul_cuda.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_gemv_cuda(device& d, const stage_config& config) {
  const matmul_form product = gemv_of(config);
  if (!fused_of(config.arguments)) return make_product_cuda(d, product, "gemv", config);

  const std::string owner = fmt::format("stage '{}'", config.name);
  const gemv_form form = collapse_rows(product);
  cuda_program program;
  const auto add = [&](buffer_place place, std::int64_t elements, std::size_t tensor) {
    return program.add_buffer(place, static_cast<std::size_t>(elements) * sizeof(float), tensor);
  };
  const std::size_t a = add(buffer_place::input, product.a.elements(), 0);
  const std::size_t x = add(buffer_place::input, product.b.elements(), 1);
  const std::size_t y = add(buffer_place::output, product.c.elements(), 0);
  std::string choice = "a kernel of its own";
  if (const std::optional<split_gemv> split = split_long_rows(form)) {
    const std::size_t sums = add(buffer_place::scratch, split->piece_count(), 0);
    program.add_kernel(split->pieces, {a, x, sums}, owner);
    program.add_kernel(split->sums, {sums, sums, y}, owner);
    choice += fmt::format(", rows in {} pieces", split->sums.k);
  } else {
    program.add_kernel(form, {a, x, y}, owner);
  }
  program.place_buffers();
  program.parts = {{"gemv", std::move(choice), cost_of(product), program.steps.size()}};
  return std::make_unique<program_stage<cuda_program>>(std::move(program));
}

}  // namespace graphline
