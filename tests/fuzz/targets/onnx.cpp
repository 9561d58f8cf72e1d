// An ONNX model: what the file says, the nodes whose inputs are constants, and the network that the
// others make, which is prepared for a device where it is small.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/network_stage.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/onnx/onnx_import.hpp"
#include "stages/nn/onnx/onnx_model.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace graphline;
using namespace graphline::nn;

void evaluate(const onnx_graph& graph) {
  std::map<std::string, onnx_tensor> values;
  for (const onnx_tensor& tensor : graph.initializers) values[tensor.name] = tensor;
  std::int64_t budget = 1 << 20;
  for (const onnx_node& node : graph.nodes) {
    std::vector<const onnx_tensor*> inputs;
    for (const std::string& input : node.inputs) {
      const auto found = values.find(input);
      inputs.push_back(found == values.end() ? nullptr : &found->second);
    }
    fuzz::read_or_refuse<input_error>([&] {
      auto outputs = evaluate_onnx(node, inputs, budget);
      for (std::size_t i = 0; i < std::min(outputs.size(), node.outputs.size()); ++i) {
        if (!outputs[i].known()) std::abort();
        values[node.outputs[i]] = std::move(outputs[i]);
      }
    });
  }
}

/// A size that a stage may read where the model leaves it open; nothing for what none has.
std::optional<shape> shape_of(const onnx_value& input) {
  std::vector<std::int64_t> extents;
  for (const onnx_extent& extent : input.extents.value_or(std::vector<onnx_extent>())) {
    extents.push_back(extent.number.value_or(2));
    if (extents.back() < 1) return {};
  }
  shape result(std::move(extents));
  const auto elements = result.checked_elements();
  return elements && *elements <= std::int64_t{1} << 44 ? std::optional(result) : std::nullopt;
}

void import(const onnx_model& model) {
  std::vector<std::pair<std::string, tensor_type>> inputs;
  for (const onnx_value& input : model.graph.inputs) {
    const auto extents = shape_of(input);
    if (!extents) return;
    inputs.push_back({input.name, {*extents, read_as(input.element).value_or(dtype::float32)}});
  }
  std::vector<std::string> outputs;
  for (const onnx_value& output : model.graph.outputs) outputs.push_back(output.name);
  diagnostics problems;
  onnx_network network = import_onnx(model, inputs, outputs, {}, problems);
  if (problems.has_errors() || network.definition.outputs.empty()) return;
  const auto is_small = [](const network_value& value) {
    return value.type.shape.elements() <= 4096;
  };
  if (!std::ranges::all_of(network.definition.values, is_small)) return;
  static const auto on = open_host_device(1);
  const weight_table weights(network.definition, std::move(network.constants));
  fuzz::read_or_refuse<run_error>(
      [&] { make_host_network(*on, network.definition, weights, stage_config{}); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const temporary_folder folder;
  static const std::string path =
      folder.write("input.data", std::string(64, '\1')).parent_path() / "m";
  fuzz::read_or_refuse<input_error>([&] {
    const onnx_model model = parse_onnx(std::as_bytes(std::span(data, size)), path);
    evaluate(model.graph);
    import(model);
  });
  return 0;
}
