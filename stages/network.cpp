#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "stages/kinds.hpp"
#include "stages/network_stage.hpp"
#include "stages/nn/definition/row_independence.hpp"
#include "stages/nn/layers/layer_kind.hpp"
#include "stages/nn/weights/network_weights.hpp"
#include "stages/nn/yaml/layer_reader.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// Describes the layers and their parameters, for `graphline stages network`.
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

std::vector<port> ports_of(const std::vector<named>& names, const char* only) {
  if (names.empty()) return {{only, "", true}};
  std::vector<port> ports;
  for (const named& name : names) ports.push_back({name.text, "", true});
  return ports;
}

prepared_stage prepare_network(const nn::network_names& names, const arguments& values,
                               std::span<const tensor_type> inputs,
                               const network_factory& make_cuda, diagnostics& out) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].element == dtype::float32) continue;
    const bool pictures = inputs[i].element == dtype::uint8 && inputs[i].shape.rank() == 4;
    out.error(
        values.where(),
        fmt::format("a network reads float32, but its {} is {}; {}",
                    names.inputs.empty() ? "input" : names.inputs.at(i).text, to_string(inputs[i]),
                    pictures ? "a stage normalize makes float32 of pictures"
                             : "a NumPy file is float32 when saved with astype('float32')"));
  }
  const auto network = std::make_shared<const nn::network_definition>(
      nn::define_network(values, names, inputs, out));
  if (out.has_errors() || network->layers.empty()) return {};
  const auto weights =
      [network, file = nn::open_weights(*network, values, out)](const stage_config& config) {
        return nn::network_weights(*network, file.get(), config.seed);
      };
  const auto table = [network, weights](const stage_config& config) {
    return std::make_shared<const nn::weight_table>(*network, weights(config));
  };
  prepared_stage result = prepared_network(network, table, values, make_cuda);
  result.weights = weights;
  result.combined_rows = nn::combined_rows(*network, std::vector<bool>(inputs.size(), true));
  return result;
}

opened_stage open_network(const arguments& values, const network_factory& make_cuda,
                          diagnostics& out) {
  nn::network_names names = nn::read_network_names(values, out);
  stage_ports ports{ports_of(names.inputs, "input"), ports_of(names.outputs, "output")};
  return {std::move(ports),
          [names = std::move(names), make_cuda](
              const arguments& given, std::span<const tensor_type> inputs, diagnostics& problems) {
            return prepare_network(names, given, inputs, make_cuda, problems);
          }};
}

}  // namespace

prepared_stage prepared_network(const std::shared_ptr<const nn::network_definition>& network,
                                const weight_source& weights, const arguments& values,
                                const network_factory& make_cuda) {
  prepared_stage result{.known = known_cost::all};
  for (const std::size_t value : network->outputs) {
    result.outputs.push_back(network->values[value].type);
  }
  for (const nn::network_layer& layer : network->layers) {
    const tensor_type& output = network->values[layer.outputs.front()].type;
    result.cost += layer.cost;
    result.layers.push_back({layer.name, layer.kind, output, layer.cost});
  }
  result.forms["cuda"] = {.channels_last = true, .element = element_of(precision_of(values))};
  const auto bound = [&](const network_factory& make) -> device_stage_factory {
    if (!make) return {};
    return [make, network, weights](device& d, const stage_config& config) {
      return make(d, *network, *weights(config), config);
    };
  };
  result.make_device = factories(bound(make_host_network), bound(make_cuda));
  return result;
}

stage_kind network_kind(const network_factory& make_cuda) {
  stage_kind kind;
  kind.name = "network";
  kind.headline = "A neural network, given layer by layer";
  kind.on = side::device;
  kind.inputs = {{"input", "What the first layer reads, or those of 'inputs', float32.", true}};
  kind.outputs = {{"output", "What the last layer gives, or those of 'outputs', float32.", true}};
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
  kind.open = [make_cuda](const arguments& values, diagnostics& out) {
    return open_network(values, make_cuda, out);
  };
  kind.backends = backends(make_cuda);
  kind.manual = layer_manual;
  return kind;
}

}  // namespace graphline
