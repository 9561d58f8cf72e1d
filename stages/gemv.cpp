#include <fmt/format.h>

#include "stages/kinds.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/products.hpp"

namespace graphline {
namespace {

std::optional<nn::matmul_form> gemv_of(const arguments& values, std::span<const tensor_type> inputs,
                                       diagnostics& out) {
  const auto form = product_of({.kind = "gemv", .a = "a", .b = "x"}, inputs, values.where(), out);
  if (!form) return {};
  const shape& x = inputs[1].shape;
  if (x[x.rank() - 1] != 1) {
    out.error(values.where(), fmt::format("gemv takes vectors of one column in 'x', [..., k, 1], "
                                          "found {}; kind 'matmul' multiplies matrices",
                                          to_string(x)));
    return {};
  }
  return form;
}

stage_shape infer_gemv(const arguments& values, std::span<const tensor_type> inputs,
                       diagnostics& out) {
  const auto form = gemv_of(values, inputs, out);
  return form ? shape_of(*form, "gemv", values.where(), out) : stage_shape{};
}

}  // namespace

nn::matmul_form gemv_of(const stage_config& config) {
  diagnostics problems;
  const auto form = gemv_of(config.arguments, config.inputs, problems);
  problems.throw_if_errors();
  return *form;
}

bool fused_of(const arguments& values) {
  return values.text("method") == "fused";
}

stage_kind gemv_kind() {
  stage_kind kind;
  kind.name = "gemv";
  kind.headline = "Batched matrix-vector product, leading dimensions broadcast";
  kind.on = side::device;
  kind.inputs = {{"a", "[..., m, k] in float32."}, {"x", "[..., k, 1] in float32."}};
  kind.outputs = {{"y", "[..., m, 1] in float32."}};
  kind.parameters = {{.name = "method",
                      .type = parameter_type::choice,
                      .help = "Who computes it: oneDNN or cuBLASLt, or loops and kernels of "
                              "Graphline's that read each row once, as fast as memory gives it.",
                      .default_value = "library",
                      .choices = {"library", "fused"}},
                     tune_parameter()};
  kind.infer = infer_gemv;
  kind.make_device["host"] = make_gemv_host;
  return kind;
}

}  // namespace graphline
