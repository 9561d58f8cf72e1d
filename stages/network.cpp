#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "stages/kinds.hpp"
#include "stages/network_stage.hpp"
#include "stages/nn/layers/layer_kind.hpp"
#include "stages/nn/weights/network_weights.hpp"
#include "stages/nn/yaml/layer_reader.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// The layers and their parameters, for `graphline stages network`.
std::string layer_manual() {
  std::string page =
      "Layers, in order; names and meanings are PyTorch's. Each also takes a 'name', and 'reads': "
      "the name of the earlier layer or input that it reads instead of the layer before it.\n";
  for (const nn::layer_kind& kind : nn::layer_kinds()) {
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
  const std::vector<std::string> names = nn::network_names_of(values, reported).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].element == dtype::float32) continue;
    const bool pictures = inputs[i].element == dtype::uint8 && inputs[i].shape.rank() == 4;
    out.error(values.where(),
              fmt::format("a network reads float32, but its {} is {}; {}", names.at(i),
                          to_string(inputs[i]),
                          pictures ? "a stage cpu.normalize makes float32 of pictures"
                                   : "a NumPy file is float32 when saved with astype('float32')"));
  }
  if (!values.has("layers")) return {};
  const nn::network_definition network = nn::define_network(values, inputs, out);
  if (out.has_errors() || network.layers.empty()) return {};
  nn::check_weights(network, values, out);
  return shape_of_network(network);
}

std::vector<named_tensor> weights(const nn::network_definition& network,
                                  const stage_config& config) {
  return nn::network_weights(network, config.arguments, config.seed);
}

stage_ports network_ports(const arguments& values, diagnostics& out) {
  const auto ports = [](std::vector<std::string> names) {
    std::vector<port> all;
    for (std::string& name : names) all.push_back({std::move(name), ""});
    return all;
  };
  nn::network_names names = nn::network_names_of(values, out);
  return {ports(std::move(names.inputs)), ports(std::move(names.outputs))};
}

}  // namespace

nn::network_definition network_of(const stage_config& config) {
  diagnostics problems;
  nn::network_definition network = nn::define_network(config.arguments, config.inputs, problems);
  problems.throw_if_errors();
  return network;
}

stage_shape shape_of_network(const nn::network_definition& network) {
  stage_shape result;
  for (const std::size_t value : network.outputs) {
    result.outputs.push_back(network.values[value].type);
  }
  for (const nn::network_layer& layer : network.layers) {
    const tensor_type& output = network.values[layer.outputs.front()].type;
    result.cost += layer.cost;
    result.layers.push_back({layer.name, layer.kind, output, layer.cost});
  }
  result.known = known_cost::all;
  return result;
}

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
    const nn::network_definition network = network_of(config);
    return make_host_network(d, network, nn::weight_table(network, weights(network, config)),
                             config);
  };
  kind.weights = [](const stage_config& config) { return weights(network_of(config), config); };
  kind.manual = layer_manual;
  return kind;
}

}  // namespace graphline
