#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/spec/node_reading.hpp"
#include "stages/kinds.hpp"
#include "stages/network_stage.hpp"
#include "stages/nn/definition/row_independence.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/onnx/onnx_import.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// Returns true if a shape matches the fixed extents of a model's input.
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

/// @return an empty model after an error
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

/// Returns a tensor of an input's type with these numbers, or with one number in all elements.
/// Extents that the model leaves open are 1, or as many as there are numbers in a list.
std::optional<nn::onnx_tensor> fixed(const nn::onnx_value& input, const node& value,
                                     diagnostics& out) {
  const std::string what = fmt::format("fixed_inputs.{}", input.name);
  nn::onnx_tensor result{.name = input.name, .element = input.element};
  const auto take = [&](auto numbers) {
    if (numbers) result.values = std::move(*numbers);
    return numbers.has_value();
  };
  if (!(nn::is_whole(input.element) ? take(read_integers(value, what, out))
                                    : take(read_numbers(value, what, out)))) {
    return {};
  }
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&result.values)) {
    const auto beyond = std::ranges::find_if(
        *whole, [&](std::int64_t number) { return nn::wrapped(input.element, number) != number; });
    if (beyond != whole->end()) {
      out.error(value.where(), fmt::format("'{}' has {}, which is not {}", what, *beyond,
                                           to_string(input.element)));
      return {};
    }
  }
  const auto given =
      std::visit([](const auto& numbers) { return std::ssize(numbers); }, result.values);
  const auto& declared = input.extents.value_or(std::vector<nn::onnx_extent>{});
  std::vector<std::int64_t> extents;
  for (const nn::onnx_extent& extent : declared) {
    const std::int64_t open = declared.size() == 1 ? given : 1;
    extents.push_back(extent.number.value_or(0) > 0 ? *extent.number : open);
  }
  result.extents = shape(std::move(extents));
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t elements = result.extents.checked_elements().value_or(most + 1);
  if (given == 0 || elements > most || (given != 1 && given != elements)) {
    out.error(value.where(),
              fmt::format("'{}' has {} numbers, but the input takes {}{}", what, given,
                          shape_text(input), elements > most ? ", too many for a constant" : ""));
    return {};
  }
  std::visit(
      [&](auto& numbers) { numbers.resize(static_cast<std::size_t>(elements), numbers.front()); },
      result.values);
  if (const auto* reals = std::get_if<std::vector<double>>(&result.values);
      reals != nullptr && input.element != nn::onnx_type::float64) {
    result.values = std::vector<float>(reals->begin(), reals->end());
  }
  return result;
}

/// Makes constants of the inputs that `fixed_inputs` gives.
void fix_inputs(const arguments& values, nn::onnx_graph& graph, diagnostics& out) {
  if (!values.has("fixed_inputs") || graph.nodes.empty()) return;
  const node& given = values.tree("fixed_inputs");
  if (!given.is_mapping()) {
    report_mismatch(given, "fixed_inputs", "a mapping of inputs to numbers", out);
    return;
  }
  for (const auto& [name, value] : given.members()) {
    const auto input = std::ranges::find(graph.inputs, name.text, &nn::onnx_value::name);
    if (input == graph.inputs.end()) {
      std::vector<std::string> known;
      std::ranges::transform(graph.inputs, std::back_inserter(known), &nn::onnx_value::name);
      out.error(name.place, fmt::format("the model has no input '{}'{}", name.text,
                                        suggestion(name.text, known)));
    } else if (auto tensor = fixed(*input, value, out)) {
      graph.initializers.push_back(std::move(*tensor));
      graph.inputs.erase(input);
    }
  }
}

/// Replaces the outputs of the model by the values that `outputs` names.
void choose_outputs(const arguments& values, nn::onnx_graph& graph, diagnostics& out) {
  if (!values.has("outputs") || graph.nodes.empty()) return;
  const auto declared = std::exchange(graph.outputs, {});
  std::vector<std::string> known;
  for (const nn::onnx_node& node : graph.nodes) {
    known.insert(known.end(), node.outputs.begin(), node.outputs.end());
  }
  for (const named& value : read_labels(values.tree("outputs"), "outputs", out)) {
    if (std::ranges::find(graph.outputs, value.text, &nn::onnx_value::name) !=
        graph.outputs.end()) {
      out.error(value.place, fmt::format("'outputs' names '{}' twice", value.text));
    } else if (std::ranges::find(known, value.text) == known.end()) {
      out.error(value.place,
                fmt::format("the model computes no value '{}'{}; a value's name is that of an "
                            "output of a node",
                            value.text, suggestion(value.text, known)));
    } else {
      const auto output = std::ranges::find(declared, value.text, &nn::onnx_value::name);
      graph.outputs.push_back(output != declared.end()
                                  ? *output
                                  : nn::onnx_value{value.text, nn::onnx_type::float32, {}});
    }
  }
}

/// An input has rows if the model leaves its first extent open. The outputs have rows if an input
/// has.
stage_ports ports_of(const nn::onnx_graph& graph) {
  stage_ports ports;
  for (const nn::onnx_value& input : graph.inputs) {
    const auto& extents = input.extents;
    const bool open = !extents || (!extents->empty() && extents->front().number.value_or(0) <= 0);
    ports.inputs.push_back({input.name, shape_text(input), open});
  }
  const bool any = std::ranges::any_of(ports.inputs, &port::rows);
  for (const nn::onnx_value& output : graph.outputs) {
    ports.outputs.push_back({output.name, shape_text(output), any});
  }
  for (const std::string& name : nn::counted_outputs(graph)) {
    ports.outputs.push_back({name + ".count", "int64 [1], how many rows are valid", false});
  }
  return ports;
}

/// Warns about open extents that have the same name in the model but different values.
void warn_of_symbols(const nn::onnx_model& model, std::span<const tensor_type> tensors,
                     const place& where, diagnostics& out) {
  std::map<std::string, std::pair<std::int64_t, std::string>> known;  // extent, name of an input
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

/// Imports the model for tensors of these types, one for each of its inputs.
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
      out.error(where, fmt::format("input '{}' of model '{}' is {}, which is not supported",
                                   wanted[i].name, path, element));
    } else if (*read != tensors[i].element) {
      const bool wider = to_string(*read) != element;
      out.error(where,
                fmt::format("input '{}' of model '{}' is {}{} but reads {}", wanted[i].name, path,
                            element, wider ? fmt::format(" and takes {}", to_string(*read)) : "",
                            to_string(tensors[i])));
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

/// Prepares the stage for inputs of these types; `with_rows` says which of them have rows. `shared`
/// has the constants of earlier calls, which were for other buckets; equal ones exist once.
prepared_stage prepare_onnx(const nn::onnx_model& model, const arguments& values,
                            std::span<const tensor_type> inputs, const std::vector<bool>& with_rows,
                            const network_factory& make_cuda,
                            std::shared_ptr<const nn::weight_table>& shared, diagnostics& out) {
  nn::onnx_network imported = network_for(model, values, inputs, out);
  if (out.has_errors()) return {};
  const auto network =
      std::make_shared<const nn::network_definition>(std::move(imported.definition));
  const auto table = std::make_shared<nn::weight_table>(*network, std::move(imported.constants));
  if (shared != nullptr) table->share(*shared);
  shared = table;
  const auto weights = shared;
  prepared_stage result = prepared_network(
      network, [weights](const stage_config&) { return weights; }, values, make_cuda);
  result.combined_rows = nn::combined_rows(*network, with_rows);
  result.other_counts = std::move(imported.other_counts);
  result.weights = [network, weights](const stage_config&) {
    std::vector<named_tensor> tensors;
    for (std::size_t i = 0; i < network->values.size(); ++i) {
      const nn::network_value& value = network->values[i];
      if (!value.constant || value.written == 0) continue;
      const auto data = std::as_bytes(weights->of(i));
      tensors.push_back({value.name, value.type, {data.begin(), data.end()}});
    }
    return tensors;
  };
  return result;
}

opened_stage open_onnx(const arguments& values, const network_factory& make_cuda,
                       diagnostics& out) {
  const auto model = std::make_shared<nn::onnx_model>(model_of(values, out));
  fix_inputs(values, model->graph, out);
  choose_outputs(values, model->graph, out);
  stage_ports ports = ports_of(model->graph);
  std::vector<bool> with_rows;
  for (const port& input : ports.inputs) with_rows.push_back(input.rows);
  return {std::move(ports),
          [model, with_rows, make_cuda,
           shared = std::make_shared<std::shared_ptr<const nn::weight_table>>()](
              const arguments& given, std::span<const tensor_type> inputs, diagnostics& problems) {
            return prepare_onnx(*model, given, inputs, with_rows, make_cuda, *shared, problems);
          }};
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

stage_kind onnx_kind(const network_factory& make_cuda) {
  stage_kind kind;
  kind.name = "onnx";
  kind.headline = "A neural network from an ONNX file";
  kind.on = side::device;
  kind.inputs = {{"inputs", "Those of the model; bool as uint8, int8 and int16 as int32.", true}};
  kind.outputs = {
      {"outputs",
       "Those of the model, float32 or integers; bool as uint8. After NonMaxSuppression, "
       "NonZero or TopK with a computed K also OUTPUT.count, the number of valid rows of OUTPUT.",
       true}};
  kind.parameters = {{.name = "model",
                      .type = parameter_type::path,
                      .help = "ONNX file, of operator set 7 to 23.",
                      .required = true}};
  for (parameter& p : precision_parameters()) kind.parameters.push_back(std::move(p));
  kind.parameters.push_back(denormals_parameter());
  kind.parameters.push_back(
      {.name = "outputs",
       .type = parameter_type::tree,
       .help =
           "Model outputs or intermediate values to write; by default, the model's outputs. Nodes "
           "that none of them depends on are skipped. Intermediate values are not fused with the "
           "nodes that read them.",
       .structure = "name or list of names"});
  kind.parameters.push_back(
      {.name = "fixed_inputs",
       .type = parameter_type::tree,
       .help =
           "Inputs with constant values: {sr: 16000}. The stage does not read them, and an If that "
           "depends only on them is decided when the model is read."});
  kind.open = [make_cuda](const arguments& values, diagnostics& out) {
    return open_onnx(values, make_cuda, out);
  };
  kind.backends = backends(make_cuda);
  kind.manual = onnx_manual;
  return kind;
}

}  // namespace graphline
