#include "stages/nn/cuda/lowering/single_products.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "framework/base/error.hpp"
#include "stages/nn/cuda/lowering/product_calls.hpp"
#include "stages/nn/operations/gemv.hpp"

namespace graphline::nn {
namespace {

convert_form conversion(dtype from, dtype to, std::int64_t elements) {
  return {.from = from, .to = to, .rows = elements, .padded_rows = elements};
}

std::unique_ptr<library_operation> plan(const product_form& form, const matmul_form& product,
                                        const product_target& target) {
  std::string why_not;
  auto operation = target.library.plan(form, why_not);
  if (operation != nullptr) return operation;
  throw run_error(
      fmt::format("{}: no implementation in {} for {} to {}: {}; another '{}' may have "
                  "one",
                  target.owner, to_word(form.precision), target.name, to_string(product.c), why_not,
                  target.parameter));
}

/// Makes a program of a product's calls. Adds conversions if its elements are not float32.
cuda_program converted_calls(const matmul_form& form, const product_calls& product,
                             std::unique_ptr<library_operation> operation,
                             const std::string& owner) {
  cuda_program program;
  const dtype element = element_of(product.form.precision);
  const bool converts = element != dtype::float32;
  const auto add = [&](buffer_place place, std::size_t tensor, const shape& s, dtype of) {
    return program.add_buffer(place, static_cast<std::size_t>(s.elements()) * size_of(of), tensor);
  };
  const auto read = [&](std::size_t tensor, const shape& s) {
    const std::size_t given = add(buffer_place::input, tensor, s, dtype::float32);
    if (!converts) return given;
    const std::size_t converted = add(buffer_place::scratch, 0, s, element);
    program.add_kernel(conversion(dtype::float32, element, s.elements()), {given, converted},
                       owner);
    return converted;
  };
  const std::size_t a = read(0, form.a);
  const std::size_t b = read(1, form.b);
  const std::size_t written = add(buffer_place::output, 0, form.c, dtype::float32);
  const std::size_t c = converts ? add(buffer_place::scratch, 0, form.c, element) : written;
  program.add_calls(std::move(operation), operands_of(product, a, b, c), owner);
  if (converts) {
    program.add_kernel(conversion(element, dtype::float32, form.c.elements()), {c, written}, owner);
  }
  program.place_buffers();
  return program;
}

}  // namespace

cuda_program lower_product_for_cuda(const matmul_form& form, const product_target& target) {
  const precision p = target.precision;
  const product_calls product = collapse_product(strided(form), p);
  auto operation = plan(product.form, form, target);
  std::string choice = describe_calls(*operation, product.calls.size());
  if (element_of(p) != dtype::float32) {
    choice += fmt::format("; conversions to and from {}", to_word(p));
  }
  cuda_program program = converted_calls(form, product, std::move(operation), target.owner);
  program.parts = {{target.name, std::move(choice), cost_of(form), program.steps.size()}};
  return program;
}

cuda_program lower_gemv_for_cuda(const matmul_form& product, const std::string& owner) {
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
  return program;
}

}  // namespace graphline::nn
