#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "stages/network_stage.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/onnx/onnx_import.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// Whether a tensor fits what the model says of its input.
bool fits(const nn::onnx_value& input, const shape& given) {
  if (!input.extents) return true;
  if (input.extents->size() != given.rank()) return false;
  for (std::size_t axis = 0; axis < input.extents->size(); ++axis) {
    const auto& wanted = (*input.extents)[axis].number;
    if (wanted && *wanted > 0 && *wanted != given[axis]) return false;
  }
  return true;
}

std::string shape_text(const nn::onnx_value& input) {
  std::vector<std::string> extents;
  for (const nn::onnx_extent& extent : input.extents.value_or(std::vector<nn::onnx_extent>{})) {
    extents.push_back(extent.number           ? std::to_string(*extent.number)
                      : extent.symbol.empty() ? "?"
                                              : extent.symbol);
  }
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

/// The stage's model; an empty one after an error.
nn::onnx_model model_of(const arguments& values, diagnostics& out) {
  const std::string& path = values.text("model");
  try {
    return nn::read_onnx(path);
  } catch (const input_error& problem) {
    const bool downloaded = path.find("build/models/") != std::string::npos;
    const char* remedy =
        downloaded && !std::filesystem::exists(path) ? "; tools/setup/models downloads it" : "";
    out.error(values.where("model"), problem.what() + std::string(remedy));
    return {};
  }
}

/// Models that were read for their ports, until their layers are asked for: a plan reads each file
/// once.
class models_read {
 public:
  void keep(const std::string& path, nn::onnx_model model) {
    const std::lock_guard lock(mutex_);
    models_[path] = std::move(model);
  }
  /// Nothing where the model was not kept, or was taken.
  std::optional<nn::onnx_model> take(const std::string& path) {
    const std::lock_guard lock(mutex_);
    auto found = models_.extract(path);
    return found ? std::optional(std::move(found.mapped())) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, nn::onnx_model> models_;
};

stage_ports ports_of(const nn::onnx_graph& graph) {
  const auto ports = [](const std::vector<nn::onnx_value>& tensors) {
    std::vector<port> named;
    for (const nn::onnx_value& tensor : tensors) named.push_back({tensor.name, shape_text(tensor)});
    return named;
  };
  return {ports(graph.inputs), ports(graph.outputs)};
}

/// Warns of open extents that the model names alike and that differ.
void warn_of_symbols(const nn::onnx_model& model, std::span<const tensor_type> tensors,
                     const place& where, diagnostics& out) {
  std::map<std::string, std::pair<std::int64_t, std::string>>
      known;  // its extent, and in which input
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const nn::onnx_value& input = model.graph.inputs[i];
    if (!input.extents) continue;
    for (std::size_t axis = 0; axis < input.extents->size(); ++axis) {
      const std::string& symbol = (*input.extents)[axis].symbol;
      if (symbol.empty() || symbol == "?") continue;
      const std::int64_t extent = tensors[i].shape[axis];
      const auto& [first, name] = known.try_emplace(symbol, extent, input.name).first->second;
      if (first == extent) continue;
      out.warning(where, fmt::format("the model's dimension '{}' is {} in input '{}' and {} in "
                                     "input '{}'",
                                     symbol, first, name, extent, input.name));
    }
  }
}

/// The model for tensors of these types, one for each of its inputs. Reports to `out`.
nn::onnx_network network_for(const nn::onnx_model& model, const arguments& values,
                             std::span<const tensor_type> tensors, diagnostics& out) {
  const place where = values.where("model");
  const std::string& path = values.text("model");
  const std::vector<nn::onnx_value>& wanted = model.graph.inputs;
  if (model.graph.outputs.empty()) {
    out.error(where, fmt::format("model '{}' has no outputs; export it with some", path));
  }
  std::vector<std::pair<std::string, tensor_type>> inputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string_view element = to_string(wanted[i].element);
    const auto read = nn::read_as(wanted[i].element);
    if (!read) {
      const bool half = wanted[i].element == nn::onnx_type::float16 ||
                        wanted[i].element == nn::onnx_type::bfloat16;
      out.error(where, fmt::format("input '{}' of model '{}' is {}, which is not supported{}",
                                   wanted[i].name, path, element,
                                   half ? "; export the model in float32, and set the stage's "
                                          "'precision' to compute in 16 bits on cuda"
                                        : ""));
    } else if (*read != tensors[i].element) {
      out.error(where, fmt::format("input '{}' of model '{}' is {} but reads {}", wanted[i].name,
                                   path, element, to_string(tensors[i])));
    } else if (!fits(wanted[i], tensors[i].shape)) {
      out.error(where, fmt::format("input '{}' of model '{}' has the shape {} but reads {}",
                                   wanted[i].name, path, shape_text(wanted[i]),
                                   to_string(tensors[i].shape)));
    }
    inputs.emplace_back(wanted[i].name, tensors[i]);
  }
  if (out.has_errors()) return {};
  warn_of_symbols(model, tensors, where, out);
  std::vector<std::string> outputs;
  for (const nn::onnx_value& value : model.graph.outputs) outputs.push_back(value.name);
  return nn::import_onnx(model, inputs, outputs, where, out);
}

/// The types of tensors as the planner knew them: between networks on a GPU elements have 16 bits.
std::vector<tensor_type> as_planned(std::vector<tensor_type> types) {
  for (tensor_type& type : types) {
    if (size_of(type.element) == 2) type.element = dtype::float32;
  }
  return types;
}

}  // namespace

nn::onnx_network onnx_network_of(const stage_config& config) {
  diagnostics problems;
  const nn::onnx_model model = model_of(config.arguments, problems);
  problems.throw_if_errors();
  const bool same_inputs = model.graph.inputs.size() == config.inputs.size();
  nn::onnx_network network;
  if (same_inputs) {
    network = network_for(model, config.arguments, as_planned(config.inputs), problems);
  }
  problems.throw_if_errors();
  std::vector<tensor_type> outputs;
  for (const std::size_t value : network.definition.outputs) {
    outputs.push_back(network.definition.values[value].type);
  }
  if (!same_inputs || outputs != as_planned(config.outputs)) {
    throw input_error(
        fmt::format("ONNX file '{}' was changed after the pipeline was planned; run it again",
                    config.arguments.text("model")));
  }
  return network;
}

namespace {

stage_shape infer_onnx(models_read& read, const arguments& values,
                       std::span<const tensor_type> inputs, diagnostics& out) {
  if (!values.has("model")) return {};
  std::optional<nn::onnx_model> model = read.take(values.text("model"));
  if (!model) model = model_of(values, out);
  if (out.has_errors()) return {};
  const nn::network_definition network = network_for(*model, values, inputs, out).definition;
  return out.has_errors() ? stage_shape{} : shape_of_network(network);
}

std::string onnx_manual() {
  std::string page =
      "Reads the model's inputs and writes its outputs: by name, as 'reads: {x: image}'\n"
      "does, or in the model's order. Extents that the model leaves open are those of\n"
      "the tensors that are read. Nodes whose inputs are constants are evaluated once.\n"
      "Operators of other nodes:\n\n";
  const auto list = [&](const std::vector<std::string_view>& names) {
    std::string line = " ";
    for (const std::string_view name : names) {
      if (line.size() + 1 + name.size() > 78) page += std::exchange(line, " ") + "\n";
      line += fmt::format(" {}", name);
    }
    page += line + "\n";
  };
  const std::vector<std::string_view> imported = nn::imported_operators();
  list(imported);
  std::vector<std::string_view> of_constants = nn::evaluated_operators();
  std::erase_if(of_constants, [&](std::string_view name) {
    return std::ranges::find(imported, name) != imported.end();
  });
  page += "\nFurther operators of nodes whose inputs are constants:\n\n";
  list(of_constants);
  return page;
}

}  // namespace

stage_kind onnx_kind() {
  stage_kind kind;
  kind.name = "onnx";
  kind.headline = "A neural network from an ONNX file";
  kind.on = side::device;
  kind.inputs = {{"inputs", "Those of the model: float32, int32, int64 or uint8."}};
  kind.outputs = {{"outputs", "Those of the model, float32."}};
  const auto read = std::make_shared<models_read>();
  kind.ports = [read](const arguments& values, diagnostics& out) {
    nn::onnx_model model = model_of(values, out);
    stage_ports ports = ports_of(model.graph);
    if (!out.has_errors()) read->keep(values.text("model"), std::move(model));
    return ports;
  };
  kind.parameters = {{.name = "model",
                      .type = parameter_type::path,
                      .help = "ONNX file, of operator set 7 to 21.",
                      .required = true}};
  for (parameter& p : precision_parameters()) kind.parameters.push_back(std::move(p));
  kind.parameters.push_back(denormals_parameter());
  kind.infer = [read](const arguments& values, std::span<const tensor_type> inputs,
                      diagnostics& out) { return infer_onnx(*read, values, inputs, out); };
  kind.make_device["host"] = [](device& d, const stage_config& config) {
    nn::onnx_network network = onnx_network_of(config);
    const nn::weight_table weights(network.definition, std::move(network.constants));
    return make_host_network(d, network.definition, weights, config);
  };
  kind.weights = [](const stage_config& config) {
    nn::onnx_network network = onnx_network_of(config);
    auto value = network.definition.values.begin();
    std::erase_if(network.constants, [&](const named_tensor&) {
      while (!value->constant) ++value;
      return value++->written == 0;
    });
    return std::move(network.constants);
  };
  kind.manual = onnx_manual;
  return kind;
}

}  // namespace graphline
