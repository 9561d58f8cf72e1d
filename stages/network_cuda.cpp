#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stages/kinds.hpp"
#include "stages/nn/cuda/lowering/lowering.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/program_stage.hpp"

namespace graphline {
namespace {

/// Returns the forms of a stage's tensors. If `layouts` is empty, all are row-major.
std::vector<nn::value_form> forms_of(const std::vector<tensor_type>& types,
                                     const std::vector<tensor_layout>& layouts) {
  std::vector<nn::value_form> forms;
  for (std::size_t i = 0; i < types.size(); ++i) {
    forms.push_back({layouts.empty() ? tensor_layout::row_major : layouts[i], types[i].element});
  }
  return forms;
}

/// Returns the precision of the arithmetic. Sums of products of integers exceed 16-bit floats.
precision arithmetic_of(const nn::network_definition& network, precision asked) {
  const bool sums_integers =
      std::ranges::any_of(network.layers, [&](const nn::network_layer& layer) {
        const bool product = std::holds_alternative<nn::conv2d_layer>(layer.operation) ||
                             std::holds_alternative<nn::linear_layer>(layer.operation) ||
                             std::holds_alternative<nn::matmul_layer>(layer.operation);
        return product && network.values[layer.outputs.front()].whole;
      });
  return sums_integers && element_bytes(asked) == 2 ? precision::float32 : asked;
}

}  // namespace

std::unique_ptr<device_stage> make_cuda_network(device& d, const nn::network_definition& network,
                                                const nn::weight_table& weights,
                                                const stage_config& config) {
  const precision p = arithmetic_of(network, precision_of(config.arguments));
  const std::string owner = fmt::format("stage '{}'", config.name);
  const auto library = nn::open_cuda_libraries(d, tune_of(config.arguments), owner);
  nn::cuda_program program =
      nn::lower_network_for_cuda(network, weights,
                                 {.library = *library,
                                  .precision = p,
                                  .owner = owner,
                                  .inputs = forms_of(config.inputs, config.input_layouts),
                                  .outputs = forms_of(config.outputs, config.output_layouts)});
  program_weights loaded;
  if (program.weights_bytes > 0) {
    const memory staging = d.allocate_pinned(program.weights_bytes);
    program.write_constants(staging.at(0));
    if (config.constants == nullptr) {
      memory block = d.allocate(program.weights_bytes);
      const auto s = d.make_stream("weights", priority::normal);
      s->copy(block.data(), staging.data(), block.bytes());
      d.synchronize(wait_mode::block);
      loaded = {program, std::move(block)};
    } else {
      loaded = {program, staging.at(0), config.constants};
    }
  }
  return std::make_unique<program_stage<nn::cuda_program>>(d, std::move(program), std::move(loaded),
                                                           p);
}

}  // namespace graphline
