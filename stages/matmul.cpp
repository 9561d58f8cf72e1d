#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "stages/kinds.hpp"
#include "stages/network_stage.hpp"
#include "stages/nn/host/gemv_loops.hpp"
#include "stages/nn/onednn/onednn_program.hpp"
#include "stages/nn/operations/movements.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/program_stage.hpp"

namespace graphline {

namespace {

/// Returns the matrices of a packed tensor with their last two dimensions swapped.
nn::strided_matrices transposed(const shape& s) {
  nn::strided_matrices result{{}, nn::packed_strides(s)};
  std::vector<std::int64_t> extents = s.extents();
  for (auto* of : {&extents, &result.strides}) std::swap(of->end()[-1], of->end()[-2]);
  result.extents = shape(std::move(extents));
  return result;
}

/// Returns the product of `inputs` as a network of one layer, by the rules of torch.matmul for
/// ranks of at least 2; without layers after an error.
nn::network_definition product_of(const arguments& values, std::span<const tensor_type> inputs,
                                  diagnostics& out) {
  const place& where = values.where();
  const bool sound = std::ranges::all_of(inputs, [](const tensor_type& type) {
    return type.element == dtype::float32 && type.shape.rank() >= 2;
  });
  if (!check_inputs(
          sound, values, inputs,
          "matmul multiplies float32 'a' [.., m, k] and 'b' [.., k, n] of at least 2 dimensions",
          out)) {
    return {};
  }
  nn::matmul_layer product;
  std::vector<std::string> givers{"'a'", "'b'"};
  if (values.boolean("transpose_a")) {
    product.a = transposed(inputs[0].shape);
    givers[0] = "transposed 'a'";
  }
  if (values.boolean("transpose_b")) {
    product.b = transposed(inputs[1].shape);
    givers[1] = "transposed 'b'";
  }
  nn::definition_builder network;
  const std::size_t a = network.add_input("a", inputs[0]);
  const std::size_t b = network.add_input("b", inputs[1]);
  nn::layer_problems problems("matmul", where, out);
  const auto c = network.add_layer({.name = "matmul",
                                    .kind = "matmul",
                                    .operation = std::move(product),
                                    .inputs = {a, b},
                                    .where = where},
                                   "", givers, problems);
  return c ? network.finish({*c}) : nn::network_definition();
}

/// Reports a product that `method: fused` does not support: not float32, or several columns.
bool check_fused(const arguments& values, const shape& product, diagnostics& out) {
  const auto report = [&](std::string_view where, std::string_view problem) {
    out.error(values.where(where), fmt::format("method: fused {}; use method: library", problem));
    return false;
  };
  if (values.boolean("transpose_a")) return report("transpose_a", "does not transpose 'a'");
  const std::int64_t columns = product[product.rank() - 1];
  if (columns != 1) {
    return report("method", fmt::format("multiplies by one column, but 'b' has {}", columns));
  }
  if (precision_of(values) != precision::float32) {
    return report("precision", "computes in float32");
  }
  return true;
}

std::unique_ptr<device_stage> make_host_gemv(device& d, const nn::strided_product& product,
                                             const cost& counted, const stage_config& /*config*/) {
  return std::make_unique<program_stage<nn::host_program>>(
      d, nn::lower_gemv_for_host(product, counted));
}

prepared_stage prepare_matmul(const arguments& values, std::span<const tensor_type> inputs,
                              const network_factory& make_cuda, const gemv_factory& make_cuda_gemv,
                              diagnostics& out) {
  const auto network =
      std::make_shared<const nn::network_definition>(product_of(values, inputs, out));
  if (network->layers.empty()) return {};
  const nn::network_layer& layer = network->layers.front();
  const shape& product = network->output_of(layer);
  const bool fused = values.text("method") == "fused";
  if (fused && !check_fused(values, product, out)) return {};
  const auto no_weights = [network](const stage_config&) {
    return std::make_shared<const nn::weight_table>(*network, std::vector<named_tensor>());
  };
  prepared_stage result = prepared_network(network, no_weights, values, make_cuda);
  result.layers.clear();  // the stage is its only layer
  result.forms["cuda"].channels_last = false;
  if (!fused) return result;
  result.forms.clear();
  const auto bound = [&](const gemv_factory& make) -> device_stage_factory {
    if (!make) return {};
    return
        [make, counted = result.cost,
         matrices = matrices_of(std::get<nn::matmul_layer>(layer.operation), inputs[0].shape,
                                inputs[1].shape, product)](device& d, const stage_config& config) {
          return make(d, matrices, counted, config);
        };
  };
  result.make_device = factories(bound(make_host_gemv), bound(make_cuda_gemv));
  return result;
}

}  // namespace

stage_kind matmul_kind(const network_factory& make_cuda, const gemv_factory& make_cuda_gemv) {
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
       .help = "Who computes it: oneDNN or cuBLASLt; or, with fused, a 'b' of one column and no "
               "transpose_a, loops and kernels of Graphline's that read each row of 'a' once, as "
               "fast as memory gives it, in float32.",
       .default_value = "library",
       .choices = {"library", "fused"}}};
  for (parameter& p : precision_parameters()) kind.parameters.push_back(std::move(p));
  kind.prepare = [make_cuda, make_cuda_gemv](const arguments& values,
                                             std::span<const tensor_type> inputs,
                                             diagnostics& out) {
    return prepare_matmul(values, inputs, make_cuda, make_cuda_gemv, out);
  };
  kind.backends = backends(make_cuda);
  return kind;
}

}  // namespace graphline
