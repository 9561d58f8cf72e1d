#include <algorithm>
#include <set>
#include <utility>

#include "framework/base/error.hpp"
#include "stages/nn/host/lowering.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/onnx/onnx_importer.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn::onnx {
namespace {

/// Returns the tensor that a node `Constant` stores; null for other nodes. Spares a copy.
const onnx_tensor* stored_by(const onnx_node& node) {
  if (node.op_type != "Constant" || node.outputs.size() != 1) return nullptr;
  const auto* tensor = node.attribute<onnx_tensor>("value");
  return tensor != nullptr && tensor->known() ? tensor : nullptr;
}

/// Returns true if a node gives all elements of its first input, perhaps in another order, shape or
/// type.
bool keeps_elements(const onnx_node& node) {
  return reshapings().contains(node.op_type) || node.op_type == "Transpose" ||
         node.op_type == "Cast" || node.op_type == "DequantizeLinear";
}

}  // namespace

bool reads_extents_only(const onnx_node& node) {
  return node.op_type == "EyeLike" || node.op_type == "Shape" || node.op_type == "Size";
}

/// Evaluates a node with constant inputs.
void onnx_importer::evaluate(const onnx_call& call, std::span<const onnx_tensor* const> inputs) {
  const onnx_node& node = call.node();
  if (const onnx_tensor* stored = stored_by(node)) {
    known_[node.outputs.front()] = {stored, {}};
    return;
  }
  const onnx_tensor* first = inputs.empty() ? nullptr : inputs.front();
  if (node.op_type == "Identity" && first != nullptr && node.outputs.size() == 1) {
    known_[node.outputs.front()] = known_.at(node.inputs.front());
    return;
  }
  std::vector<onnx_tensor> outputs =
      can_evaluate(node) ? evaluate_onnx(node, inputs, budget_) : fold(call);
  for (std::size_t i = 0; i < std::min(node.outputs.size(), outputs.size()); ++i) {
    if (node.outputs[i].empty()) continue;
    const onnx_tensor& kept = keep(std::move(outputs[i]));
    if (keeps_elements(node)) sources_[&kept] = source_of(first);
    known_[node.outputs[i]] = {&kept, {}};
  }
}

/// Returns the tensor of the model that has the elements of a constant, perhaps in another order,
/// shape or type.
const onnx_tensor* onnx_importer::source_of(const onnx_tensor* tensor) const {
  const auto found = sources_.find(tensor);
  return found == sources_.end() ? tensor : found->second;
}

/// Evaluates a node with constant inputs: runs the layers that it becomes. Layers compute in
/// float32, so integers that float32 does not represent are refused.
std::vector<onnx_tensor> onnx_importer::fold(const onnx_call& call) {
  const onnx_node& node = call.node();
  const onnx_tensor& first = call.type(0);
  onnx_importer alone(model_, where_, out_);
  for (const std::string& name : node.inputs) {
    if (!name.empty()) alone.known_[name] = {known_.at(name).tensor, {}};
  }
  std::vector<std::size_t> read;  // outputs
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty() || !read_.contains(node.outputs[i])) continue;
    alone.read_.insert(node.outputs[i]);
    read.push_back(i);
  }
  alone.call_ = &call;
  alone.add_node(call);
  using integer_list = std::vector<std::int64_t>;
  const auto is_exact = [most = std::int64_t{1} << 24](std::int64_t value) {
    return value >= -most && value <= most;
  };
  for (const std::string& name : node.inputs) {
    const auto* integers =
        name.empty() ? nullptr : std::get_if<integer_list>(&known_.at(name).tensor->values);
    call.require(integers == nullptr || std::ranges::all_of(*integers, is_exact),
                 "has integers beyond 2^24, which is not supported");
  }
  const auto known = [&](std::size_t output) { return alone.known_.at(node.outputs[output]); };
  std::vector<std::size_t> values;
  for (const std::size_t i : read) values.push_back(*known(i).value);
  const network_definition network = alone.network_.finish(std::move(values));
  for (const network_layer& layer : network.layers) {
    const shape work{layer.cost.flops / 64};   // as much as a tensor of these elements
    call.require(work[0] < call.budget() / 2,  // an extent is charged like an element
                 "computes too much with constants; export the model with constants folded");
    call.charge(work);
    for (const std::size_t value : layer.outputs) call.charge(network.shape_of(value));
  }
  std::vector<onnx_tensor> outputs(node.outputs.size());  // unread ones stay unknown
  try {
    auto computed = evaluate_on_host(network, {network, std::move(alone.constants_)});
    for (std::size_t i = 0; i < read.size(); ++i) {
      onnx_tensor& output = outputs[read[i]];
      const onnx_tensor& type = *known(read[i]).tensor;
      output = {
          .element = onnx_type::float32, .extents = type.extents, .values = std::move(computed[i])};
      // Layers compute other floating-point types in float32.
      const bool floats =
          type.element == onnx_type::float32 && !std::holds_alternative<integer_list>(first.values);
      const onnx_type element = floats ? first.element : type.element;
      if (element == onnx_type::float32) continue;
      output = cast_onnx(call, output, element);
      narrow(call, output);
    }
  } catch (const run_error& refusal) {
    call.refuse(refusal.what());
  }
  return outputs;
}

}  // namespace graphline::nn::onnx

namespace graphline::nn {

std::vector<std::string> counted_outputs(const onnx_graph& graph) {
  std::set<std::string_view> computed;  // may depend on the model's inputs
  std::set<std::string_view> certain;   // depend on them in every branch of an 'If'
  std::set<std::string_view> counted;
  for (const onnx_value& input : graph.inputs) certain.insert(input.name);
  computed = certain;
  for (const onnx_node& node : graph.nodes) {
    const auto reads = [&](const std::set<std::string_view>& values) {
      return std::ranges::any_of(node.inputs, [&](const std::string& name) {
        return !name.empty() && values.contains(name);
      });
    };
    const bool is_if = node.op_type == "If";
    if (onnx::reads_extents_only(node) || (!reads(computed) && !is_if)) continue;
    const bool counts =
        node.op_type == "NonMaxSuppression" || node.op_type == "NonZero" ||
        (node.op_type == "TopK" && node.inputs.size() > 1 && certain.contains(node.inputs[1]));
    computed.insert(node.outputs.begin(), node.outputs.end());
    if (!is_if && reads(certain)) certain.insert(node.outputs.begin(), node.outputs.end());
    if (counts || reads(counted)) counted.insert(node.outputs.begin(), node.outputs.end());
  }
  std::vector<std::string> names;
  for (const onnx_value& output : graph.outputs) {
    if (counted.contains(output.name)) names.push_back(output.name);
  }
  return names;
}

}  // namespace graphline::nn
