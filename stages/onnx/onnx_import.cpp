#include "stages/onnx/onnx_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/base/error.hpp"
#include "stages/onnx/onnx_constants.hpp"
#include "stages/onnx/onnx_importer.hpp"

namespace graphline {
namespace {

const onnx_operators& all_operators() {
  static const onnx_operators operators = [] {
    onnx_operators all = onnx_products();
    all.merge(onnx_pointwise());
    all.merge(onnx_windows());
    all.merge(onnx_resizing());
    all.merge(onnx_movements());
    return all;
  }();
  return operators;
}

std::vector<float> as_floats(const onnx_tensor& tensor) {
  return std::visit(
      [](const auto& values) {
        std::vector<float> floats;
        floats.reserve(values.size());
        for (const auto value : values) floats.push_back(static_cast<float>(value));
        return floats;
      },
      tensor.values);
}

std::string subject_of(const onnx_node& node) {
  return fmt::format("node '{}' ({})", node.name, node.op_type);
}

}  // namespace

bool onnx_importer::has(std::size_t input) const {
  return input < node_->inputs.size() && !node_->inputs[input].empty();
}

const onnx_known& onnx_importer::input(std::size_t input) const {
  if (!has(input)) refuse(fmt::format("input {} is left out", input));
  return known_.at(node_->inputs[input]);
}

std::size_t onnx_importer::value(std::size_t input) {
  onnx_known& known = known_.at(node_->inputs.at(input));
  if (!known.value) {
    known.value = add_constant(as_floats(*known.constant), known.extents);
  }
  return *known.value;
}

bool onnx_importer::is_constant(std::size_t input) const {
  return this->input(input).constant != nullptr;
}

const onnx_tensor& onnx_importer::constant(std::size_t input, const char* what) const {
  const onnx_known& known = this->input(input);
  if (known.constant == nullptr) refuse(fmt::format("{} must be constant", what));
  return *known.constant;
}

std::vector<float> onnx_importer::floats(std::size_t input, const char* what) const {
  return as_floats(constant(input, what));
}

std::vector<std::int64_t> onnx_importer::integers(std::size_t input, const char* what) const {
  const auto* values = std::get_if<std::vector<std::int64_t>>(&constant(input, what).values);
  if (values == nullptr) refuse(fmt::format("{} must be integers", what));
  return *values;
}

std::int64_t onnx_importer::integer(std::string_view attribute, std::int64_t otherwise) const {
  const auto* found = node_->attribute<std::int64_t>(attribute);
  return found != nullptr ? *found : otherwise;
}

float onnx_importer::number(std::string_view attribute, float otherwise) const {
  const auto* found = node_->attribute<float>(attribute);
  return found != nullptr ? *found : otherwise;
}

std::string onnx_importer::text(std::string_view attribute, const char* otherwise) const {
  const auto* found = node_->attribute<std::string>(attribute);
  return found != nullptr ? *found : otherwise;
}

std::optional<std::vector<std::int64_t>> onnx_importer::integers(std::string_view attribute) const {
  const auto* found = node_->attribute<std::vector<std::int64_t>>(attribute);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> onnx_importer::integers(std::string_view attribute,
                                                                 std::size_t input) const {
  if (has(input)) return integers(input, std::string(attribute).c_str());
  return integers(attribute);
}

std::size_t onnx_importer::axis(std::int64_t written, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (written < -extent || written >= extent) {
    refuse(fmt::format("has axis {} of a value with {} dimensions", written, rank));
  }
  return static_cast<std::size_t>(written < 0 ? written + extent : written);
}

std::size_t onnx_importer::add_constant(std::vector<float> data, const shape& extents) {
  const std::string name = fmt::format("constant.{}", constants_.size());
  named_tensor& tensor = constants_.emplace_back(named_tensor{name, {extents, dtype::float32}, {}});
  tensor.data.resize(data.size() * sizeof(float));
  std::memcpy(tensor.data.data(), data.data(), tensor.data.size());
  return network_.add_constant(name, tensor.type);
}

std::size_t onnx_importer::add(layer_operation operation, std::vector<std::size_t> inputs,
                               const std::vector<std::size_t>& weights) {
  std::string name = node_->name;
  if (layers_of_node_ > 0) name += fmt::format(".{}", layers_of_node_);
  ++layers_of_node_;
  std::vector<std::string> givers;
  for (const std::size_t input : inputs) {
    givers.push_back(fmt::format("'{}'", network_.network().values[input].name));
  }
  diagnostics found;
  layer_problems problems(subject_of(*node_), where_, found);
  const auto given = network_.add_layer({.name = name,
                                         .kind = node_->op_type,
                                         .operation = std::move(operation),
                                         .inputs = std::move(inputs),
                                         .where = where_},
                                        weights, givers, problems);
  if (!given) {
    // Its message begins with the node, as that of every refusal.
    refuse(found.all().front().message.substr(subject_of(*node_).size() + 1));
  }
  return *given;
}

std::size_t onnx_importer::add_reshape(std::size_t value, shape extents) {
  if (shape_of(value) == extents) return value;
  return add(reshape_layer{std::move(extents)}, {value});
}

void onnx_importer::read(const onnx_graph& graph,
                         const std::vector<std::pair<std::string, shape>>& inputs) {
  for (const auto& [name, extents] : inputs) {
    known_[name] = {nullptr, network_.add_input(name, {extents, dtype::float32}), extents};
  }
  read_nodes(graph);
}

void onnx_importer::read_nodes(const onnx_graph& graph) {
  for (const onnx_tensor& tensor : graph.initializers) {
    known_[tensor.name] = {std::make_shared<onnx_tensor>(tensor), {}, tensor.extents};
  }
  for (const onnx_node& node : graph.nodes) read_node(node);
}

void onnx_importer::read_node(const onnx_node& node) {
  // What depends on a node that failed says nothing new.
  for (const std::string& input : node.inputs) {
    if (!input.empty() && !known_.contains(input)) return;
  }
  node_ = &node;
  layers_of_node_ = 0;
  std::string why;
  try {
    if (evaluate(node)) return;
    if (node.op_type == "If" && node.domain.empty()) return take_branch(node);
    const auto found = all_operators().find(node.op_type);
    if (!node.domain.empty()) {
      why = fmt::format("operators of '{}' are not supported", node.domain);
    } else if (found == all_operators().end()) {
      why = "the operator is not supported";
    } else {
      return give(node, found->second(*this));
    }
  } catch (const unsupported_node& reason) {
    why = reason.why;
  } catch (const input_error& problem) {
    // The evaluation of a constant names its node.
    out_.error(where_, problem.what());
  }
  if (!why.empty()) out_.error(where_, fmt::format("{}: {}", subject_of(node), why));
}

/// Whether the node's outputs are constants, which are known then.
bool onnx_importer::evaluate(const onnx_node& node) {
  if (!node.domain.empty() || !can_evaluate(node)) return false;
  const bool extents_only = node.op_type == "Shape" || node.op_type == "Size";
  std::vector<std::unique_ptr<onnx_tensor>> unknown;
  std::vector<const onnx_tensor*> inputs;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      inputs.push_back(nullptr);
      continue;
    }
    const onnx_known& known = known_.at(name);
    if (known.constant != nullptr) {
      inputs.push_back(known.constant.get());
    } else if (extents_only) {
      unknown.push_back(std::make_unique<onnx_tensor>(
          onnx_tensor{.element = onnx_type::float32, .extents = known.extents}));
      inputs.push_back(unknown.back().get());
    } else {
      return false;
    }
  }
  std::vector<onnx_tensor> outputs = evaluate_onnx(node, inputs, budget_);
  for (std::size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const shape extents = outputs[i].extents;
    known_[node.outputs[i]] = {std::make_shared<onnx_tensor>(std::move(outputs[i])), {}, extents};
  }
  return true;
}

void onnx_importer::take_branch(const onnx_node& node) {
  const std::vector<float> condition = floats(0, "the condition");
  require(condition.size() == 1, "the condition must be one value");
  const auto* branch = node.attribute<std::shared_ptr<const onnx_graph>>(
      condition[0] != 0 ? "then_branch" : "else_branch");
  require(branch != nullptr && *branch != nullptr, "a branch is missing");
  read_nodes(**branch);
  for (std::size_t i = 0; i < node.outputs.size() && i < (*branch)->outputs.size(); ++i) {
    const auto given = known_.find((*branch)->outputs[i].name);
    if (given != known_.end()) known_[node.outputs[i]] = given->second;
  }
}

void onnx_importer::give(const onnx_node& node, const std::vector<std::size_t>& values) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= values.size()) {
      refuse(fmt::format("output {} is not supported", i));
    }
    // What the network reads is none of its results before a layer gives it.
    const std::vector<std::size_t>& read = network_.network().inputs;
    const bool passes = std::ranges::find(read, values[i]) != read.end();
    const std::size_t given =
        passes ? add(reshape_layer{shape_of(values[i])}, {values[i]}) : values[i];
    known_[node.outputs[i]] = {nullptr, given, shape_of(given)};
  }
}

onnx_network onnx_importer::finish(const std::vector<std::string>& outputs) {
  std::vector<std::size_t> values;
  for (const std::string& name : outputs) {
    const auto found = known_.find(name);
    if (found == known_.end()) continue;  // its node was reported
    if (!found->second.value) {
      out_.error(where_, fmt::format("output '{}' of the model is constant", name));
      continue;
    }
    values.push_back(*found->second.value);
  }
  return {network_.finish(std::move(values)), std::move(constants_)};
}

std::vector<std::string_view> imported_operators() {
  std::vector<std::string_view> names;
  for (const auto& [name, _] : all_operators()) names.push_back(name);
  return names;
}

onnx_network import_onnx(const onnx_model& model,
                         const std::vector<std::pair<std::string, shape>>& inputs,
                         const std::vector<std::string>& outputs, const place& where,
                         diagnostics& out) {
  onnx_importer importer(model.opset, where, out);
  importer.read(model.graph, inputs);
  return importer.finish(outputs);
}

}  // namespace graphline
