#include "stages/nn/onnx/onnx_import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/onnx/onnx_importer.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn::onnx {
namespace {

const onnx_operators& imported() {
  static const onnx_operators operators = [] {
    onnx_operators all = {{"Einsum", one_output(import_einsum)},
                          {"GRU", import_recurrent},
                          {"LSTM", import_recurrent},
                          {"RNN", import_recurrent},
                          {"Resize", one_output(import_resize)},
                          {"Upsample", one_output(import_resize)}};
    all.merge(imported_products());
    all.merge(imported_pointwise());
    all.merge(imported_windows());
    all.merge(imported_movements());
    return all;
  }();
  return operators;
}

/// Returns a budget for a model's shapes and for evaluating each of its constants several times.
std::int64_t budget_of(const onnx_model& model) {
  std::int64_t elements = 0;
  for (const onnx_tensor& tensor : model.graph.initializers) {
    if (tensor.known()) elements += tensor.extents.elements();  // values of strings are not read
  }
  return (std::int64_t{1} << 26) + 32 * elements;
}

/// Returns a way to do without nodes of a domain; empty if none is known.
const char* remedy_for(std::string_view domain) {
  if (domain.starts_with("com.microsoft")) {
    return "; ONNX Runtime's optimizer makes such nodes: take the model as it was exported, "
           "without it";
  }
  if (domain.starts_with("ai.onnx.ml")) {
    return "; compute trees, encoders and the like in a stage of a plug-in, or convert them to "
           "tensor operators, for example with hummingbird-ml";
  }
  return "";
}

const onnx_operator& find_operator(const onnx_call& call) {
  const onnx_node& node = call.node();
  if (!node.domain.empty()) {
    call.refuse(
        fmt::format("is of '{}', which is not supported{}", node.domain, remedy_for(node.domain)));
  }
  const auto found = imported().find(node.op_type);
  if (found != imported().end()) return found->second;
  const bool repeats =
      node.op_type == "Loop" || node.op_type == "Scan" || node.op_type == "SequenceMap";
  call.refuse(repeats ? "is not supported; export the model with a fixed number of steps, which "
                        "exporters unroll, or export the body and let frames be the steps"
                      : "is not supported");
}

/// Returns null if the operator is not composed of others.
onnx_composition find_composition(const onnx_node& node) {
  const auto found = composed_operators().find(node.op_type);
  return found != composed_operators().end() && node.domain.empty() ? found->second : nullptr;
}

constexpr const char* depends_on_count =
    "may depend on the number of rows, which is known only when the model runs; end the model "
    "before it with 'outputs', and compute it in a stage that reads the rows and their count";

void drop_unread(network_definition& network) {
  std::set<std::size_t> read(network.outputs.begin(), network.outputs.end());
  const auto is_read = [&](std::size_t value) { return read.contains(value); };
  for (auto layer = network.layers.rbegin(); layer != network.layers.rend(); ++layer) {
    if (std::ranges::none_of(layer->outputs, is_read)) continue;
    read.insert(layer->inputs.begin(), layer->inputs.end());
  }
  std::erase_if(network.layers, [&](const network_layer& layer) {
    return std::ranges::none_of(layer.outputs, is_read);
  });
}

}  // namespace

onnx_importer::onnx_importer(const onnx_model& model, const place& where, diagnostics& out)
    : model_(model), where_(where), out_(out), budget_(budget_of(model)) {}

std::size_t onnx_importer::value(std::size_t input) {
  call_->type(input);  // refuses an omitted input
  return value_of(call_->node().inputs[input]);
}

std::size_t onnx_importer::value_of(const std::string& name) {
  known_value& known = known_.at(name);
  if (known.value) return *known.value;
  const onnx_tensor& tensor = *known.tensor;
  const auto* floats = std::get_if<std::vector<float>>(&tensor.values);
  known.value = floats != nullptr ? add_derived(name, tensor, *floats, tensor.extents)
                                  : add_derived(name, tensor, floats_of(tensor), tensor.extents);
  return *known.value;
}

std::size_t onnx_importer::add_derived(const std::string& name, const onnx_tensor& from,
                                       std::span<const float> data, const shape& extents) {
  std::vector<std::size_t>& known = derived_[source_of(&from)];
  const auto equal = std::ranges::find_if(known, [&](std::size_t value) {
    const named_tensor& other = constants_[constant_of_.at(value)];
    return other.type.shape == extents && have_equal_bytes(other.data, std::as_bytes(data));
  });
  if (equal != known.end()) return *equal;
  const auto same_as = known.empty() ? std::nullopt : std::optional(known.front());
  const std::size_t added = add_named(name, data, extents, from.extents.elements(), same_as);
  if (known.size() < most_compared) known.push_back(added);
  return added;
}

/// Makes the constant's name unique and valid as a file name.
std::size_t onnx_importer::add_named(const std::string& name, std::span<const float> data,
                                     const shape& extents, std::int64_t written,
                                     std::optional<std::size_t> same_as) {
  call_->require(!data.empty(), "reads a constant without elements, which is not supported");
  std::string base = name;
  for (char& c : base) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '.';
  }
  std::string unique = base;
  std::size_t& numbered = constant_names_[base];  // 0 if the name is unused
  while (numbered++ > 0) {
    unique = fmt::format("{}.{}", base, numbered);
    if (constant_names_.try_emplace(unique, 1).second) break;
  }
  const tensor_type type{extents, dtype::float32};
  const auto bytes = std::as_bytes(data);
  constants_.push_back({unique, type, {bytes.begin(), bytes.end()}});
  const bool all = written == extents.elements();
  const std::size_t added =
      network_.add_constant(unique, type, all ? std::nullopt : std::optional(written), same_as);
  constant_of_[added] = constants_.size() - 1;
  return added;
}

std::vector<std::size_t> onnx_importer::add_all(layer_operation operation,
                                                std::vector<std::size_t> inputs,
                                                const std::vector<std::size_t>& weights) {
  std::string name = call_->node().name;
  if (layers_of_node_ > 0) name += fmt::format(".{}", layers_of_node_);
  ++layers_of_node_;
  std::vector<std::string> givers;
  for (const std::size_t input : inputs) {
    givers.push_back(fmt::format("'{}'", network_.network().values[input].name));
  }
  diagnostics found;
  layer_problems problems("", where_, found);
  const auto given = network_.add_layer({.name = name,
                                         .kind = call_->node().op_type,
                                         .operation = std::move(operation),
                                         .inputs = std::move(inputs),
                                         .where = where_},
                                        weights, givers, problems);
  // The shape rule's message starts with its empty subject and a space.
  if (!given) call_->refuse(found.all().front().message.substr(1));
  call_->require(shape_of(*given).elements() > 0, "gives no elements, which is not supported");
  const bool carried =
      carry_counted_rows(network_.network(), network_.network().layers.back(), counted_);
  call_->require(carried, depends_on_count);
  return network_.network().layers.back().outputs;
}

void onnx_importer::count_rows(std::size_t value, std::size_t axis, std::size_t count) {
  const shape& extents = shape_of(value);
  call_->require(!counted_.contains(value), depends_on_count);
  counted_[value] = {count, extents[axis], packed_strides(extents)[axis]};
}

std::size_t onnx_importer::add_reshape(std::size_t value, shape extents) {
  if (shape_of(value) == extents) return value;
  return add(reshape_layer{std::move(extents)}, {value});
}

std::size_t onnx_importer::add_wrap(std::size_t value, const whole_range& range,
                                    onnx_type element) {
  const whole_range wanted = range_of(element);
  const bool holds = wanted.least <= range.least && range.most <= wanted.most;
  if (size_of(element) > 2 || holds) return value;
  return add_pointwise(pointwise_function::wrap, {value}, static_cast<float>(wanted.least),
                       static_cast<float>(wanted.most - wanted.least + 1));
}

std::size_t onnx_importer::add_selection(std::size_t value, const selection& lists, float padding) {
  const std::size_t rank = shape_of(value).rank();
  std::vector<std::int64_t> extents = shape_of(value).extents();
  const std::vector<std::int64_t> zeros(rank, 0);
  const std::vector<std::int64_t> ones(rank, 1);
  slice_layer slice{zeros, ones, {}};
  pad_layer pad{padding, zeros, zeros};
  for (const auto& [axis, list] : lists) {
    const auto is_outside = [](std::int64_t position) { return position == outside; };
    const auto first = std::ranges::find_if_not(list, is_outside);
    const auto last = std::find_if(first, list.end(), is_outside);
    call_->require(first != last, "gives no element of its input, which is not supported");
    pad.before[axis] = first - list.begin();
    pad.after[axis] = list.end() - last;
    extents[axis] = last - first;
    const std::int64_t step = last - first > 1 ? first[1] - first[0] : 1;
    const auto breaks = std::adjacent_find(
        first, last, [step](std::int64_t a, std::int64_t b) { return b - a != step; });
    if (breaks == last) {
      slice.begin[axis] = *first;
      slice.step[axis] = step;
    } else {
      value = add(gather_layer{axis, {first, last}}, {value});
    }
  }
  slice.extents = shape(std::move(extents));
  if (slice.extents != shape_of(value) || slice.step != ones) value = add(slice, {value});
  if (pad.before != zeros || pad.after != zeros) value = add(pad, {value});
  return value;
}

void onnx_importer::read(const std::vector<std::pair<std::string, tensor_type>>& inputs,
                         const std::vector<std::string>& outputs) {
  for (const auto& [name, type] : inputs) {
    try {
      add_input(name, type);
    } catch (const input_error& problem) {
      out_.error(where_, problem.what());
    }
  }
  read_.insert(outputs.begin(), outputs.end());
  find_needed(model_.graph);
  read_graph(model_.graph);
}

/// Adds layers that convert an input or output of the model. Of their traffic, only reading an
/// input is part of the model as written.
std::size_t onnx_importer::add_conversion(const std::string& name, std::size_t value,
                                          const convert_layer& conversion, onnx_type element) {
  onnx_node node;
  node.name = name;
  node.op_type = "Convert";
  const onnx_call call(node, {}, budget_);
  call_ = &call;
  layers_of_node_ = 0;
  const std::size_t first_layer = network_.network().layers.size();
  std::size_t result = add(conversion, {value});
  const bool is_truth = element == onnx_type::boolean && conversion.to == dtype::float32;
  if (is_truth) result = add_pointwise(pointwise_function::logical_and, {result, result});
  std::vector<std::size_t> read;
  if (is_input(value)) read = {value};
  network_.make_node(first_layer, read, {});
  return result;
}

void onnx_importer::add_input(const std::string& name, const tensor_type& type) {
  const auto declared = std::ranges::find(model_.graph.inputs, name, &onnx_value::name);
  const bool whole = declared != model_.graph.inputs.end() && is_whole(declared->element);
  const onnx_type element = whole ? declared->element : onnx_type::float32;
  std::size_t value = network_.add_input(name, type);
  if (type.element != dtype::float32) {
    value = add_conversion(name, value, {.from = type.element}, element);
  }
  known_[name] = {&keep({.element = element, .extents = type.shape}), value};
}

/// Finds the nodes on which the values in `read_` depend, and adds what these nodes read.
void onnx_importer::find_needed(const onnx_graph& graph) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_read = [&](const std::string& name) {
      return !name.empty() && read_.contains(name);
    };
    if (std::ranges::none_of(node->outputs, is_read)) continue;
    needed_.insert(&*node);
    read_.insert(node->inputs.begin(), node->inputs.end());
    for (const onnx_attribute& attribute : node->attributes) {
      const auto* inner = std::get_if<std::shared_ptr<const onnx_graph>>(&attribute.value);
      if (inner == nullptr) continue;
      for (const onnx_value& output : (*inner)->outputs) read_.insert(output.name);
      find_needed(**inner);
    }
  }
}

void onnx_importer::read_graph(const onnx_graph& graph) {
  for (const onnx_tensor& tensor : graph.initializers) known_[tensor.name] = {&tensor, {}};
  for (const onnx_node& node : graph.nodes) {
    if (needed_.contains(&node)) read_node(node);
  }
}

void onnx_importer::read_node(const onnx_node& node) {
  std::vector<const onnx_tensor*> inputs;
  bool after_refused = false;
  for (const std::string& input : node.inputs) {
    const auto found = known_.find(input);
    inputs.push_back(found != known_.end() ? found->second.tensor : nullptr);
    after_refused = after_refused || (!input.empty() && found == known_.end());
  }
  const onnx_call call(node, inputs, budget_);
  call_ = &call;
  layers_of_node_ = 0;
  try {
    if (after_refused) {
      // After a refused node, report only unsupported operators.
      const bool evaluated = can_evaluate(node) || node.op_type == "If";
      const bool own = node.domain.empty() && (evaluated || find_composition(node) != nullptr);
      if (!own) find_operator(call);
      return;
    }
    carry_out(call, inputs);
  } catch (const refused_node& problem) {
    refused(node, problem.why());
  }
}

void onnx_importer::refused(const onnx_node& node, const std::string& why) {
  auto known = std::ranges::find(refused_, why, &decltype(refused_)::value_type::first);
  if (known == refused_.end()) known = refused_.insert(known, {why, {}});
  known->second.push_back(&node);
}

/// Reports each reason once: "each of 62 nodes (MaxUnpool) is not supported: 'a', 'b', 'c' and 59
/// more".
void onnx_importer::report_refused() {
  constexpr std::size_t most_named = 3;
  for (const auto& [why, nodes] : refused_) {
    if (nodes.size() == 1) {
      out_.error(where_, refused_node(*nodes.front(), why).what());
      continue;
    }
    std::vector<std::string> operators;
    std::vector<std::string> names;
    for (const onnx_node* node : nodes) {
      if (std::ranges::find(operators, node->op_type) == operators.end()) {
        operators.push_back(node->op_type);
      }
      if (names.size() < most_named) names.push_back(quote(node->name));
    }
    const std::size_t more = nodes.size() - names.size();
    std::string list = fmt::to_string(fmt::join(names, ", "));
    if (more > 0) list += fmt::format(" and {} more", more);
    std::string text = why;
    text.insert(std::min(text.find(';'), text.size()), ": " + list);
    out_.error(where_, fmt::format("each of {} nodes ({}) {}", nodes.size(),
                                   printable(fmt::to_string(fmt::join(operators, ", "))), text));
  }
}

void onnx_importer::carry_out(const onnx_call& call, std::span<const onnx_tensor* const> inputs) {
  const onnx_node& node = call.node();
  const bool extents_only = reads_extents_only(node);
  const bool counts = extents_only && !node.inputs.empty() && counted_in(node.inputs[0]) != nullptr;
  call.require(!counts, depends_on_count);
  const bool constant = std::ranges::all_of(inputs, [&](const onnx_tensor* tensor) {
    return tensor == nullptr || tensor->known() || extents_only;
  });
  if (node.op_type == "If" && node.domain.empty()) {
    take_branch(call);
  } else if (!constant || find_composition(node) != nullptr) {
    add_node(call);
  } else {
    evaluate(call, inputs);
  }
}

void onnx_importer::add_node(const onnx_call& call) {
  const onnx_node& node = call.node();
  const std::size_t first_layer = network_.network().layers.size();
  std::vector<std::size_t> values;
  if (const onnx_composition compose = find_composition(node)) {
    const std::vector<std::string> names = compose(*this, call);
    if (tensor_of(names.front()).known()) {
      for (std::size_t i = 0; i < std::min(names.size(), node.outputs.size()); ++i) {
        known_[node.outputs[i]] = known_.at(names[i]);
      }
      return;
    }
    for (const std::string& name : names) values.push_back(value_of(name));
  } else {
    const onnx_operator& add = find_operator(call);
    require_elements(call);
    values = add(*this, call);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const onnx_type element = given_element(call, i);
    if (!is_whole(element) || element == onnx_type::boolean) continue;
    if (gives_wrapped(call)) values[i] = add_wrap(values[i], range_of(onnx_type::int32), element);
    network_.make_whole(first_layer);
  }
  make_node(first_layer, values);
  give(values);
}

std::string onnx_importer::apply(std::string_view op_type, std::vector<std::string> inputs,
                                 std::vector<onnx_attribute> attributes) {
  onnx_node node{.name = call_->node().name,
                 .op_type = std::string(op_type),
                 .inputs = std::move(inputs),
                 .attributes = std::move(attributes)};
  node.outputs = {new_name(fmt::format("{}.{}", node.inputs.front(), op_type))};
  read_.insert(node.outputs.front());
  std::vector<const onnx_tensor*> tensors;
  for (const std::string& name : node.inputs) {
    tensors.push_back(name.empty() ? nullptr : &tensor_of(name));
  }
  const onnx_call call(node, tensors, budget_);
  const onnx_call* outer = std::exchange(call_, &call);
  carry_out(call, tensors);
  call_ = outer;
  return node.outputs.front();
}

std::string onnx_importer::new_name(const std::string& like) const {
  std::string name = like;
  for (int number = 2; known_.contains(name); ++number) name = fmt::format("{}.{}", like, number);
  return name;
}

std::string onnx_importer::name_of(onnx_tensor constant) {
  const std::string name = new_name(fmt::format("{}.constant", call_->node().name));
  known_[name] = {&keep(std::move(constant)), {}};
  return name;
}

std::string onnx_importer::name_of(std::size_t value, onnx_type element) {
  const std::string name = new_name(fmt::format("{}.value", call_->node().name));
  known_[name] = {&keep({.element = element, .extents = shape_of(value)}), value};
  return name;
}

/// Declares that the layers form one node; values without a name are not outputs of the node.
void onnx_importer::make_node(std::size_t first_layer, const std::vector<std::size_t>& values) {
  const onnx_node& node = call_->node();
  std::vector<std::size_t> read;
  for (const std::string& name : node.inputs) {
    const auto found = known_.find(name);
    if (found != known_.end() && found->second.value) read.push_back(*found->second.value);
  }
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < std::min(values.size(), node.outputs.size()); ++i) {
    if (!node.outputs[i].empty()) given.push_back(values[i]);
  }
  network_.make_node(first_layer, read, given);
}

void onnx_importer::take_branch(const onnx_call& call) {
  const char* taken = call.number(0) != 0 ? "then_branch" : "else_branch";
  const auto* branch = call.node().attribute<std::shared_ptr<const onnx_graph>>(taken);
  call.require(branch != nullptr, "lacks a branch");
  read_graph(**branch);
  const auto& given = (*branch)->outputs;
  for (std::size_t i = 0; i < std::min(call.node().outputs.size(), given.size()); ++i) {
    const auto found = known_.find(given[i].name);
    if (found != known_.end()) known_[call.node().outputs[i]] = found->second;
  }
}

bool onnx_importer::is_input(std::size_t value) const {
  return std::ranges::find(network_.network().inputs, value) != network_.network().inputs.end();
}

/// Returns null if all extents of a value are known.
const counted_rows* onnx_importer::counted_in(const std::string& name) const {
  const auto known = known_.find(name);
  if (known == known_.end() || !known->second.value) return nullptr;
  const auto found = counted_.find(*known->second.value);
  return found == counted_.end() ? nullptr : &found->second;
}

void onnx_importer::give(const std::vector<std::size_t>& values) {
  const std::vector<std::string>& names = call_->node().outputs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || !read_.contains(names[i])) continue;
    if (i >= values.size()) call_->refuse(fmt::format("gives no output {} here", i));
    // A node's output must be the output of a layer. If the node passes an input or constant on, a
    // reshape copies it.
    const shape extents = shape_of(values[i]);
    const bool by_layer = !is_input(values[i]) && !network_.network().values[values[i]].constant;
    const std::size_t given = by_layer ? values[i] : add(reshape_layer{extents}, {values[i]});
    known_[names[i]] = {&keep({.element = given_element(*call_, i), .extents = extents}), given};
  }
}

onnx_network onnx_importer::finish(const std::vector<std::string>& outputs) {
  report_refused();
  std::vector<std::size_t> values;
  for (const std::string& name : outputs) {
    const auto found = known_.find(name);
    if (found == known_.end()) continue;  // its node was refused
    const auto& [tensor, value] = found->second;
    const bool constant = tensor->known() || !value;  // a tensor of strings has neither
    if (constant || is_input(*value)) {
      out_.error(where_, fmt::format("output '{}' of the model is {}; remove it from the outputs",
                                     name, constant ? "constant" : "one of its inputs"));
    } else if (const dtype element = *read_as(tensor->element); element != dtype::float32) {
      values.push_back(add_conversion(name, *value, {.to = element}, tensor->element));
    } else {
      values.push_back(*value);
    }
  }
  const std::vector<std::string> expected = counted_outputs(model_.graph);
  std::map<std::size_t, std::string> other_counts;
  for (const std::string& name : outputs) {
    const counted_rows* rows = counted_in(name);
    if (known_.contains(name) &&
        (rows != nullptr) != (std::ranges::find(expected, name) != expected.end())) {
      out_.error(where_, fmt::format("output '{}' of the model has rows whose number depends on an "
                                     "'If', which is not supported; export the model without it",
                                     name));
    } else if (rows != nullptr) {
      if (const shape& extents = shape_of(*known_.at(name).value);
          rows->stride != packed_strides(extents)[0] || rows->capacity != extents[0]) {
        other_counts[values.size()] =
            fmt::format("'{0}.count' counts along another dimension of '{0}' than the first", name);
      }
      values.push_back(
          add_conversion(name + ".count", rows->count, {.to = dtype::int64}, onnx_type::int64));
    }
  }
  onnx_network result{network_.finish(std::move(values)), std::move(constants_),
                      std::move(other_counts)};
  recognize_patterns(result);
  drop_unread(result.definition);
  return result;
}

}  // namespace graphline::nn::onnx

namespace graphline::nn {

std::vector<std::string_view> imported_operators() {
  std::vector<std::string_view> names;
  for (const auto& [name, _] : onnx::imported()) names.push_back(name);
  for (const auto& [name, _] : onnx::composed_operators()) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

onnx_network import_onnx(const onnx_model& model,
                         const std::vector<std::pair<std::string, tensor_type>>& inputs,
                         const std::vector<std::string>& outputs, const place& where,
                         diagnostics& out) {
  onnx::onnx_importer importer(model, where, out);
  importer.read(inputs, outputs);
  return importer.finish(outputs);
}

}  // namespace graphline::nn
