#include "stages/matmul_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// A dimension along which a product is repeated: its extent and how far apart neighbors are, 0
/// where broadcast.
struct batch_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t d = 0;
};

/// The leading dimensions, without those of extent 1 and with neighbors merged that are one run in
/// all three tensors.
std::vector<batch_axis> axes_of(const strided_product& product) {
  const auto stride = [](const strided_matrices& of, std::size_t i) {
    return of.extents[i] == 1 ? 0 : of.strides[i];
  };
  std::vector<batch_axis> axes;  // innermost first
  for (std::size_t i = product.c.extents.rank() - 2; i-- > 0;) {
    const batch_axis axis{product.c.extents[i], stride(product.a, i), stride(product.b, i),
                          stride(product.c, i)};
    if (axis.extent == 1) continue;
    if (!axes.empty()) {
      batch_axis& inner = axes.back();
      const auto continues = [&](std::int64_t batch_axis::*of) {
        return axis.*of == inner.*of * inner.extent;
      };
      if (continues(&batch_axis::a) && continues(&batch_axis::b) && continues(&batch_axis::d)) {
        inner.extent *= axis.extent;
        continue;
      }
    }
    axes.push_back(axis);
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// How one of some matrices lies: from row to row, or where it is transposed from column to column.
struct matrix_lines {
  bool transposed = false;
  std::int64_t leading = 0;
};

matrix_lines lines_of(const strided_matrices& of) {
  const std::size_t rank = of.extents.rank();
  const std::int64_t rows = of.extents[rank - 2];
  const std::int64_t columns = of.extents[rank - 1];
  // A vector is the same memory whether transposed or not.
  const bool transposed = columns > 1 && of.strides[rank - 1] != 1;
  if (transposed) return {true, of.strides[rank - 1]};
  return {false, rows == 1 ? columns : of.strides[rank - 2]};
}

/// The product of one matrix by one other.
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

/// Makes an axis along which b is broadcast part of m, if rows are then still evenly apart.
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

/// What divides the beginning of every operand of every call, if tensors begin at multiples of 16
/// bytes.
std::size_t alignment_of(const std::vector<product_offsets>& calls, std::size_t bytes) {
  std::size_t divides = 16;
  for (const product_offsets& call : calls) {
    for (const std::int64_t offset : {call.a, call.b, call.d}) {
      divides = std::gcd(divides, static_cast<std::size_t>(offset) * bytes);
    }
  }
  return divides;
}

/// A product that is repeated along these dimensions, outermost first, from `first` on, in as few
/// calls as they allow: the longest is a strided batch, the others are one call each.
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

/// A conversion of a tensor's elements in their order.
convert_form conversion(dtype from, dtype to, std::int64_t elements) {
  return {.from = from, .to = to, .rows = elements, .padded_rows = elements};
}

std::unique_ptr<library_operation> plan(device& d, const product_form& form,
                                        const matmul_form& product, const char* kind,
                                        const stage_config& config, const std::string& owner) {
  std::string why_not;
  auto operation = open_cuda_libraries(d, tune_of(config.arguments), owner)->plan(form, why_not);
  if (operation != nullptr) return operation;
  throw run_error(
      fmt::format("{}: no implementation in {} for {} to {}: {}; another {} may have one", owner,
                  to_word(form.precision), kind, to_string(product.c), why_not,
                  config.arguments.has("precision") ? "'precision'" : "'method'"));
}

/// The stage's tensors, converted where the product is not of float32, and the product's calls.
cuda_program program_of(const matmul_form& form, const product_calls& product,
                        std::unique_ptr<library_operation> operation, const std::string& owner) {
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
  // A single row takes any axis, of which the longest saves most; after it, only what continues it.
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

std::unique_ptr<device_stage> make_matmul_cuda(device& d, const stage_config& config) {
  return make_product_cuda(d, matmul_of(config), "matmul", config);
}

std::unique_ptr<device_stage> make_product_cuda(device& d, const matmul_form& form,
                                                const char* kind, const stage_config& config) {
  const std::string owner = fmt::format("stage '{}'", config.name);
  const precision p = precision_of(config.arguments);
  const product_calls product = collapse_product(strided(form), p);
  auto operation = plan(d, product.form, form, kind, config, owner);
  std::string choice = describe_calls(*operation, product.calls.size());
  if (element_of(p) != dtype::float32) {
    choice += fmt::format("; conversions to and from {}", to_word(p));
  }
  cuda_program program = program_of(form, product, std::move(operation), owner);
  program.parts = {{kind, std::move(choice), cost_of(form), program.steps.size()}};
  return std::make_unique<program_stage<cuda_program>>(std::move(program), memory(), p);
}

}  // namespace graphline
