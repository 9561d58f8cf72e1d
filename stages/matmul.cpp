#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stages/kinds.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/products.hpp"

namespace graphline {

namespace {

/// The most dimensions that oneDNN's tensors have.
constexpr std::size_t largest_rank = 12;

bool check_operand(const char* kind, const char* name, const tensor_type& type, const place& where,
                   diagnostics& out) {
  if (type.element != dtype::float32) {
    out.error(where,
              fmt::format("{} multiplies float32, but '{}' is {}", kind, name, to_string(type)));
    return false;
  }
  if (type.shape.rank() < 2 || type.shape.rank() > largest_rank) {
    out.error(where, fmt::format("{} needs '{}' with 2 to {} dimensions, found {}", kind, name,
                                 largest_rank, to_string(type.shape)));
    return false;
  }
  return true;
}

/// `s` with ones in front up to `rank`, and the last two extents swapped if asked for.
std::vector<std::int64_t> aligned(const shape& s, std::size_t rank, bool transpose) {
  std::vector<std::int64_t> extents(rank - s.rank(), 1);
  extents.insert(extents.end(), s.extents().begin(), s.extents().end());
  if (transpose) std::swap(extents[rank - 1], extents[rank - 2]);
  return extents;
}

/// What a message calls an operand: its shape, and that it is used transposed.
std::string describe(const char* name, const shape& s, bool transpose) {
  return fmt::format("'{}' is {}{}", name, to_string(s), transpose ? " transposed" : "");
}

std::optional<nn::matmul_form> matmul_of(const arguments& values,
                                         std::span<const tensor_type> inputs, diagnostics& out) {
  const wanted_product wanted{.transpose_a = values.boolean("transpose_a"),
                              .transpose_b = values.boolean("transpose_b")};
  return product_of(wanted, inputs, values.where(), out);
}

stage_shape infer_matmul(const arguments& values, std::span<const tensor_type> inputs,
                         diagnostics& out) {
  const auto form = matmul_of(values, inputs, out);
  return form ? shape_of(*form, "matmul", values.where(), out) : stage_shape{};
}

}  // namespace

nn::matmul_form matmul_of(const stage_config& config) {
  diagnostics problems;
  const auto form = matmul_of(config.arguments, config.inputs, problems);
  problems.throw_if_errors();
  return *form;
}

std::optional<nn::matmul_form> product_of(const wanted_product& wanted,
                                          std::span<const tensor_type> inputs, const place& where,
                                          diagnostics& out) {
  const auto& [kind, name_a, name_b, transpose_a, transpose_b] = wanted;
  const bool a_fits = check_operand(kind, name_a, inputs[0], where, out);
  const bool b_fits = check_operand(kind, name_b, inputs[1], where, out);
  if (!a_fits || !b_fits) return {};

  const std::size_t rank = std::max(inputs[0].shape.rank(), inputs[1].shape.rank());
  const std::vector<std::int64_t> a = aligned(inputs[0].shape, rank, transpose_a);
  const std::vector<std::int64_t> b = aligned(inputs[1].shape, rank, transpose_b);
  const std::string operands = describe(name_a, inputs[0].shape, transpose_a) + " and " +
                               describe(name_b, inputs[1].shape, transpose_b);
  if (a[rank - 1] != b[rank - 2]) {
    out.error(where, fmt::format("{} needs as many columns in '{}' as rows in '{}', {} against "
                                 "{}, but {}",
                                 kind, name_a, name_b, a[rank - 1], b[rank - 2], operands));
    return {};
  }
  std::vector<std::int64_t> c(rank);
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (a[axis] != b[axis] && a[axis] != 1 && b[axis] != 1) {
      out.error(where, fmt::format("{} cannot broadcast {} against {} in the leading "
                                   "dimensions, for {}",
                                   kind, a[axis], b[axis], operands));
      return {};
    }
    c[axis] = std::max(a[axis], b[axis]);
  }
  c[rank - 2] = a[rank - 2];
  c[rank - 1] = b[rank - 1];
  return nn::matmul_form{shape(a), shape(b), shape(std::move(c)), transpose_a, transpose_b};
}

stage_shape shape_of(const nn::matmul_form& form, const char* kind, const place& where,
                     diagnostics& out) {
  const auto written = form.c.checked_elements();
  std::int64_t macs = 0;
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  if (!written || __builtin_mul_overflow(*written, form.depth(), &macs) || macs > limit) {
    out.error(where, fmt::format("{} to {} would take more than 2^60 multiply-accumulates", kind,
                                 to_string(form.c)));
    return {};
  }
  stage_shape result;
  result.outputs = {{form.c, dtype::float32}};
  result.cost = cost_of(form);
  result.known = known_cost::all;
  return result;
}

stage_kind matmul_kind() {
  stage_kind kind;
  kind.name = "matmul";
  kind.headline = "Batched matrix product, leading dimensions broadcast";
  kind.on = side::device;
  kind.inputs = {{"a", "[..., m, k] in float32; [..., k, m] with transpose_a."},
                 {"b", "[..., k, n] in float32; [..., n, k] with transpose_b."}};
  kind.outputs = {{"c", "[..., m, n] in float32."}};
  kind.parameters = {{.name = "transpose_a",
                      .type = parameter_type::boolean,
                      .help = "Swap the last two dimensions of 'a'.",
                      .default_value = "false"},
                     {.name = "transpose_b",
                      .type = parameter_type::boolean,
                      .help = "Swap the last two dimensions of 'b'.",
                      .default_value = "false"}};
  for (parameter& p : precision_parameters()) kind.parameters.push_back(std::move(p));
  kind.infer = infer_matmul;
  kind.make_device["host"] = [](device& d, const stage_config& config) {
    return make_product_host(d, matmul_of(config), "matmul", config);
  };
  return kind;
}

}  // namespace graphline
