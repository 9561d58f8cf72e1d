// An ONNX model: what the file says, and the nodes whose inputs are constants.

#include <algorithm>
#include <map>

#include "framework/base/error.hpp"
#include "stages/onnx/onnx_constants.hpp"
#include "stages/onnx/onnx_model.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace graphline;

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

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const temporary_folder folder;
  static const std::string path =
      folder.write("input.data", std::string(64, '\1')).parent_path() / "m";
  fuzz::read_or_refuse<input_error>(
      [&] { evaluate(parse_onnx(std::as_bytes(std::span(data, size)), path).graph); });
  return 0;
}
