#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "stages/kinds.hpp"
#include "stages/nn/cuda/cuda_program.hpp"
#include "stages/nn/operations/gemv.hpp"
#include "stages/program_stage.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_cuda_gemv(device& d, const nn::strided_product& product,
                                             const cost& counted, const stage_config& config) {
  using nn::buffer_place;
  const std::string owner = fmt::format("stage '{}'", config.name);
  const nn::gemv_form form = collapse_rows(product);
  nn::cuda_program program;
  const auto add = [&](buffer_place place, std::int64_t elements, std::size_t tensor) {
    return program.add_buffer(place, static_cast<std::size_t>(elements) * sizeof(float), tensor);
  };
  const std::size_t a = add(buffer_place::input, product.a.extents.elements(), 0);
  const std::size_t x = add(buffer_place::input, product.b.extents.elements(), 1);
  const std::size_t y = add(buffer_place::output, product.c.extents.elements(), 0);
  std::string choice = "a kernel of its own";
  if (const std::optional<nn::split_gemv> split = split_long_rows(form)) {
    const std::size_t sums = add(buffer_place::scratch, split->piece_count(), 0);
    program.add_kernel(split->pieces, {a, x, sums}, owner);
    program.add_kernel(split->sums, {sums, sums, y}, owner);
    choice += fmt::format(", rows in {} pieces", split->sums.k);
  } else {
    program.add_kernel(form, {a, x, y}, owner);
  }
  program.place_buffers();
  program.parts = {{"gemv", std::move(choice), counted, program.steps.size()}};
  return std::make_unique<program_stage<nn::cuda_program>>(d, std::move(program));
}

}  // namespace graphline
