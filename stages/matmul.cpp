#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stages/kinds.hpp"
#include "stages/nn/host/single_products.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/program_stage.hpp"

namespace graphline {

namespace {

/// oneDNN's limit on the number of dimensions.
constexpr std::size_t largest_rank = 12;

bool check_operand(const char* name, const tensor_type& type, const place& where,
                   diagnostics& out) {
  if (type.element != dtype::float32) {
    out.error(where,
              fmt::format("matmul multiplies float32, but '{}' is {}", name, to_string(type)));
    return false;
  }
  if (type.shape.rank() < 2 || type.shape.rank() > largest_rank) {
    out.error(where, fmt::format("matmul needs '{}' with 2 to {} dimensions, found {}", name,
                                 largest_rank, to_string(type.shape)));
    return false;
  }
  return true;
}

/// Returns the extents of `s` with leading ones up to `rank`. `transpose` swaps the last two.
std::vector<std::int64_t> aligned(const shape& s, std::size_t rank, bool transpose) {
  std::vector<std::int64_t> extents(rank - s.rank(), 1);
  extents.insert(extents.end(), s.extents().begin(), s.extents().end());
  if (transpose) std::swap(extents[rank - 1], extents[rank - 2]);
  return extents;
}

/// Returns "'a' is [2, 3] transposed", for messages.
std::string describe(const char* name, const shape& s, bool transpose) {
  return fmt::format("'{}' is {}{}", name, to_string(s), transpose ? " transposed" : "");
}

/// Reports a product that `method: fused` does not support: not float32, or several columns.
bool check_fused(const arguments& values, const nn::matmul_form& form, diagnostics& out) {
  const auto report = [&](std::string_view where, std::string_view problem) {
    out.error(values.where(where), fmt::format("method: fused {}; use method: library", problem));
    return false;
  };
  if (form.transpose_a) return report("transpose_a", "does not transpose 'a'");
  const std::int64_t columns = form.c[form.c.rank() - 1];
  if (columns != 1) {
    return report("method", fmt::format("multiplies by one column, but 'b' has {}", columns));
  }
  if (precision_of(values) != precision::float32) {
    return report("precision", "computes in float32");
  }
  return true;
}

/// Returns the product by the rules of torch.matmul for ranks of at least 2; empty after an error.
std::optional<nn::matmul_form> matmul_of(const arguments& values,
                                         std::span<const tensor_type> inputs, diagnostics& out) {
  const place& where = values.where();
  const bool transpose_a = values.boolean("transpose_a");
  const bool transpose_b = values.boolean("transpose_b");
  const bool a_fits = check_operand("a", inputs[0], where, out);
  const bool b_fits = check_operand("b", inputs[1], where, out);
  if (!a_fits || !b_fits) return {};

  const std::size_t rank = std::max(inputs[0].shape.rank(), inputs[1].shape.rank());
  const std::vector<std::int64_t> a = aligned(inputs[0].shape, rank, transpose_a);
  const std::vector<std::int64_t> b = aligned(inputs[1].shape, rank, transpose_b);
  const std::string operands = describe("a", inputs[0].shape, transpose_a) + " and " +
                               describe("b", inputs[1].shape, transpose_b);
  if (a[rank - 1] != b[rank - 2]) {
    out.error(where, fmt::format("matmul needs as many columns in 'a' as rows in 'b', {} against "
                                 "{}, but {}",
                                 a[rank - 1], b[rank - 2], operands));
    return {};
  }
  std::vector<std::int64_t> c(rank);
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (a[axis] != b[axis] && a[axis] != 1 && b[axis] != 1) {
      out.error(where, fmt::format("matmul cannot broadcast {} against {} in the leading "
                                   "dimensions, for {}",
                                   a[axis], b[axis], operands));
      return {};
    }
    c[axis] = std::max(a[axis], b[axis]);
  }
  c[rank - 2] = a[rank - 2];
  c[rank - 1] = b[rank - 1];
  nn::matmul_form form{shape(a), shape(b), shape(std::move(c)), transpose_a, transpose_b};
  if (is_fused(values) && !check_fused(values, form, out)) return {};
  return form;
}

std::unique_ptr<device_stage> make_host_matmul(device& d, const nn::matmul_form& form,
                                               const stage_config& config) {
  nn::host_program program =
      is_fused(config.arguments)
          ? nn::lower_gemv_for_host(form)
          : nn::lower_product_for_host(d, form, "matmul", fmt::format("stage '{}'", config.name),
                                       precision_of(config.arguments));
  return std::make_unique<program_stage<nn::host_program>>(d, std::move(program));
}

prepared_stage prepare_matmul(const arguments& values, std::span<const tensor_type> inputs,
                              const matmul_factory& make_cuda, diagnostics& out) {
  const auto form = matmul_of(values, inputs, out);
  if (!form) return {};
  const auto written = form->c.checked_elements();
  std::int64_t macs = 0;
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  if (!written || __builtin_mul_overflow(*written, form->depth(), &macs) || macs > limit) {
    out.error(values.where(),
              fmt::format("matmul to {} would take more than 2^60 multiply-accumulates",
                          to_string(form->c)));
    return {};
  }
  const auto bound = [&](const matmul_factory& make) -> device_stage_factory {
    if (!make) return {};
    return [make, form = *form](device& d, const stage_config& config) {
      return make(d, form, config);
    };
  };
  return {.outputs = {{form->c, dtype::float32}},
          .cost = cost_of(*form),
          .known = known_cost::all,
          .make_device = factories(bound(make_host_matmul), bound(make_cuda))};
}

}  // namespace

stage_kind matmul_kind(const matmul_factory& make_cuda) {
  stage_kind kind = kind_named("matmul", "Batched matrix product, leading dimensions broadcast");
  kind.on = side::device;
  // 'b' has no rows: the rows of 'a' are multiplied by the same 'b'.
  kind.inputs = {{"a", "[..., m, k] in float32; [..., k, m] with transpose_a.", true},
                 {"b", "[..., k, n] in float32; [..., n, k] with transpose_b."}};
  kind.outputs = {{"c", "[..., m, n] in float32.", true}};
  kind.parameters = {
      {.name = "transpose_a",
       .type = parameter_type::boolean,
       .help = "Swap the last two dimensions of 'a'.",
       .default_value = "false"},
      {.name = "transpose_b",
       .type = parameter_type::boolean,
       .help = "Swap the last two dimensions of 'b'.",
       .default_value = "false"},
      {.name = "method",
       .type = parameter_type::choice,
       .help = "Who computes it: oneDNN or cuBLASLt; or, with fused and a 'b' of one "
               "column, loops and kernels of Graphline's that read each row of 'a' "
               "once, as fast as memory gives it, in float32.",
       .default_value = "library",
       .choices = {"library", "fused"}}};
  for (parameter& p : precision_parameters()) kind.parameters.push_back(std::move(p));
  kind.prepare = [make_cuda](const arguments& values, std::span<const tensor_type> inputs,
                             diagnostics& out) {
    return prepare_matmul(values, inputs, make_cuda, out);
  };
  kind.backends = backends(make_cuda);
  return kind;
}

}  // namespace graphline
