#include <fmt/format.h>

#include <vector>

#include "stages/kinds.hpp"
#include "stages/network/host/lowering.hpp"
#include "stages/network/layer_kind.hpp"
#include "stages/network/layer_reader.hpp"
#include "stages/network/network_weights.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// The layers and their parameters, for `graphline stages network`.
std::string layer_manual() {
  std::string page =
      "Layers, in order; names and meanings are PyTorch's. Each also takes a 'name', and 'reads': "
      "the name of the earlier layer or input that it reads instead of the layer before it.\n";
  for (const layer_kind& kind : layer_kinds()) {
    page += fmt::format("\n  {}: {}\n", kind.name, kind.headline);
    for (const parameter& p : kind.parameters) {
      const std::string initial = p.required        ? "required"
                                  : p.default_value ? "default " + *p.default_value
                                                    : "optional";
      page += fmt::format("    {}: {}, {}. {}\n", p.name, describe_type(p), initial, p.help);
    }
  }
  return page;
}

stage_shape infer_network(const arguments& values, std::span<const tensor_type> inputs,
                          diagnostics& out) {
  diagnostics reported;  // with the ports
  const std::vector<port> ports = network_ports(values, reported).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].element == dtype::float32) continue;
    const bool pictures = inputs[i].element == dtype::uint8 && inputs[i].shape.rank() == 4;
    out.error(values.where(),
              fmt::format("a network reads float32, but its {} is {}; {}", ports.at(i).name,
                          to_string(inputs[i]),
                          pictures ? "a stage cpu.normalize makes float32 of pictures"
                                   : "a NumPy file is float32 when saved with astype('float32')"));
  }
  if (!values.has("layers")) return {};
  const network_definition network = define_network(values, inputs, out);
  if (out.has_errors() || network.layers.empty()) return {};
  check_weights(network, values, out);

  return shape_of_network(network);
}

std::vector<named_tensor> weights(const stage_config& config) {
  return network_weights(network_of(config), config);
}

}  // namespace

stage_kind network_kind() {
  stage_kind kind;
  kind.name = "network";
  kind.headline = "A neural network, given layer by layer";
  kind.on = side::device;
  kind.inputs = {{"input", "What the first layer reads, or those of 'inputs', float32."}};
  kind.outputs = {{"output", "What the last layer gives, or those of 'outputs', float32."}};
  kind.ports = network_ports;
  kind.parameters = {
      {.name = "layers",
       .type = parameter_type::tree,
       .help = "List of layers, applied in order; see below.",
       .required = true,
       .structure = "list of layers"},
      {.name = "inputs",
       .type = parameter_type::tree,
       .help = "Names by which layers read what the stage reads, in order; 'input' when left out.",
       .structure = "name or list of names"},
      {.name = "outputs",
       .type = parameter_type::tree,
       .help = "Names of the layers whose results the stage writes, in order; the last layer when "
               "left out.",
       .structure = "name or list of names"},
      {.name = "weights",
       .type = parameter_type::path,
       .help = "Safetensors file with PyTorch's names (0.weight, stem.bias); drawn from the seed "
               "when left out, so that values keep their size through all layers."}};
  for (parameter& p : precision_parameters()) kind.parameters.push_back(std::move(p));
  kind.parameters.push_back(denormals_parameter());
  kind.infer = infer_network;
  kind.make_device["host"] = [](device& d, const stage_config& config) {
    const network_definition network = network_of(config);
    return make_host_network(d, network, weight_table(network, network_weights(network, config)),
                             config);
  };
  kind.weights = weights;
  kind.manual = layer_manual;
  return kind;
}

}  // namespace graphline
