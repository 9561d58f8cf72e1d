#include <algorithm>
#include <utility>

#include "stages/nn/cuda/lowering/lowering.hpp"

namespace graphline::nn {
namespace {

/// Reorders numbers per dimension to the order of dimensions in memory.
std::vector<std::int64_t> in_memory_order(const std::vector<std::int64_t>& dimensions,
                                          tensor_layout layout) {
  if (layout == tensor_layout::row_major) return dimensions;
  return {dimensions[0], dimensions[2], dimensions[3], dimensions[1]};
}

/// Adds an expression as a kernel; `space` contains the strides of operands, then of the result.
void add_expression(cuda_lowering& b, const network_layer& owner, pointwise_expression expression,
                    const pointwise_space& space, std::vector<dtype> elements,
                    std::vector<cuda_operand> operands) {
  pointwise_space walk = collapsed(space);
  if (walk.extents.size() > most_extents) {
    b.refuse(owner, "its elements lie in more than 8 dimensions that cannot be joined");
  }
  b.add_kernel(pointwise_form{std::move(expression), std::move(walk), std::move(elements)},
               std::move(operands), owner);
}

/// Returns true if a result may overflow float16 although the operands do not.
bool may_overflow(const pointwise_expression& expression) {
  return std::ranges::any_of(expression.steps, [](const pointwise_expression::step& step) {
    const pointwise_function of = step.layer.function;
    return of == pointwise_function::pow || of == pointwise_function::exp ||
           (of == pointwise_function::mul && step.from[0] == step.from[1]);
  });
}

/// Returns true if only reductions read a value. The value may then stay float32.
bool only_reduced(const network_definition& network, std::size_t value) {
  bool reduced = false;
  for (const network_layer& layer : network.layers) {
    if (std::ranges::count(layer.inputs, value) == 0) continue;
    const bool moved = std::holds_alternative<reshape_layer>(layer.operation);
    reduced = std::holds_alternative<reduce_layer>(layer.operation) ||
              std::holds_alternative<pool2d_layer>(layer.operation) ||
              (moved && only_reduced(network, layer.outputs.front()));
    if (!reduced) return false;
  }
  return reduced;
}

/// Returns a copy in order, or of [batch, a, b] to [batch, b, a], as a conversion; empty for any
/// other copy.
std::optional<convert_form> as_conversion(const pointwise_space& walk, dtype from, dtype to) {
  std::vector<std::int64_t> extents = walk.extents;
  while (extents.size() < 3) extents.insert(extents.begin(), 1);
  const bool same_or_float32 = from == to || from == dtype::float32 || to == dtype::float32;
  const auto is_float = [](dtype element) {
    return element == dtype::float32 || size_of(element) == 2;
  };
  if (extents.size() != 3 || !same_or_float32 || !is_float(from) || !is_float(to)) return {};
  const std::int64_t rows = extents[2];
  const std::int64_t columns = extents[1];
  const auto ends_with = [](const std::vector<std::int64_t>& strides,
                            const std::vector<std::int64_t>& end) {
    return std::equal(strides.rbegin(), strides.rend(), end.rbegin());
  };
  if (!ends_with(walk.strides[0], {rows * columns, 1, columns}) ||
      !ends_with(walk.strides[1], {rows * columns, rows, 1})) {
    return {};
  }
  return convert_form{.from = from,
                      .to = to,
                      .batch = extents[0],
                      .rows = rows,
                      .columns = columns,
                      .padded_rows = rows};
}

/// Returns an operand in the layout in which the expression reads it: the result's layout if both
/// have the same extents, otherwise its own.
cuda_value operand_of(cuda_lowering& b, const expression_source& source, const shape& out,
                      tensor_layout layout, const network_layer& owner) {
  if (!source.numbers.empty()) {
    return {b.constant({source.numbers.begin(), source.numbers.end()}, dtype::float32), {}};
  }
  const cuda_value value = b.value(*source.value);
  if (b.network().shape_of(*source.value) != out) return value;
  return b.in_form(*source.value, {layout, value.form.element}, owner);
}

/// Adds the expression as a kernel and sets the output of `last`. If `given` is not null, it is the
/// first operand, and nothing reads it later.
void lower_expression(cuda_lowering& b, const group_expression& layers, std::size_t last,
                      const cuda_value* given = nullptr) {
  const network_layer& owner = b.layer(last);
  const shape& out = b.output_shape(owner);
  const auto is_given = [&](std::size_t source) { return source == 0 && given != nullptr; };
  tensor_layout layout = tensor_layout::row_major;
  for (std::size_t i = 0; i < layers.sources.size(); ++i) {
    const expression_source& source = layers.sources[i];
    if (source.extents != out || !source.numbers.empty()) continue;
    const value_form form = is_given(i) ? given->form : b.value(*source.value).form;
    if (form.layout == tensor_layout::channels_last) layout = form.layout;
  }
  pointwise_space space{in_memory_order(out.extents(), layout), {}};
  std::vector<dtype> elements;
  std::vector<cuda_operand> operands;
  const auto add = [&](const cuda_value& tensor, const std::vector<std::int64_t>& strides) {
    operands.emplace_back(tensor.buffer);
    elements.push_back(tensor.form.element);
    space.strides.push_back(in_memory_order(strides, layout));
  };
  for (std::size_t i = 0; i < layers.sources.size(); ++i) {
    const expression_source& source = layers.sources[i];
    const cuda_value value = is_given(i) ? *given : operand_of(b, source, out, layout, owner);
    add(value,
        broadcast_strides(source.extents, strides_of(source.extents, value.form.layout), out));
  }
  const bool wide = may_overflow(layers) && only_reduced(b.network(), owner.outputs.front());
  const value_form form{
      layout, b.result_element(last, layout, wide ? std::optional(dtype::float32) : std::nullopt)};
  const bool in_place = given != nullptr && given->form == form;
  const cuda_value result =
      in_place ? cuda_value{given->buffer, form} : b.make_value(out.elements(), form);
  add(result, strides_of(out, layout));
  add_expression(b, owner, layers, space, std::move(elements), std::move(operands));
  b.set_output(last, result);
}

}  // namespace

std::vector<std::int64_t> strides_of(const shape& s, tensor_layout layout) {
  if (layout == tensor_layout::row_major) return packed_strides(s);
  const std::vector<std::int64_t> packed = packed_strides({s[0], s[2], s[3], s[1]});
  return {packed[0], packed[3], packed[1], packed[2]};
}

void add_copy(cuda_lowering& b, const network_layer& layer, const shape& extents,
              const cuda_value& from, const strided_part& from_part, const cuda_value& to,
              const strided_part& to_part) {
  const auto operand = [](const cuda_value& value, const strided_part& part) {
    return cuda_operand(value.buffer,
                        static_cast<std::size_t>(part.begin) * size_of(value.form.element));
  };
  const pointwise_expression copy{.operands = 1, .steps = {}, .results = {0}};
  const tensor_layout order = to.form.layout;
  const pointwise_space space{
      in_memory_order(extents.extents(), order),
      {in_memory_order(from_part.strides, order), in_memory_order(to_part.strides, order)}};
  const std::vector<cuda_operand> operands{operand(from, from_part), operand(to, to_part)};
  if (auto form = as_conversion(collapsed(space), from.form.element, to.form.element)) {
    b.add_kernel(*form, operands, layer);
  } else {
    add_expression(b, layer, copy, space, {from.form.element, to.form.element}, operands);
  }
}

cuda_value padded(cuda_lowering& b, const network_layer& layer, const cuda_value& from,
                  const shape& s, const pad_layer& pad) {
  const shape out = padded_extents(s, pad);
  const std::vector<std::int64_t> strides = strides_of(out, from.form.layout);
  const cuda_value result = b.make_value(out.elements(), from.form);
  const cuda_value number{b.constant({pad.value}, dtype::float32), {}};
  add_copy(b, layer, out, number, {0, std::vector<std::int64_t>(out.rank(), 0)}, result,
           {0, strides});
  add_copy(b, layer, s, from, {0, strides_of(s, from.form.layout)}, result,
           inside_of(pad, strides));
  return result;
}

void lower_element_wise(cuda_lowering& b, const layer_group& group) {
  const std::vector<std::size_t> layers = group.members();
  const shape& out = b.output_shape(b.layer(group.last()));
  const std::size_t axis = out.rank() == 4 ? 1 : std::max<std::size_t>(out.rank(), 1) - 1;
  b.note("a kernel of its own");
  lower_expression(b, expression_of(b.network(), b.weights(), layers, axis), group.last());
}

std::vector<epilogue_step> epilogue_of(const group_expression& layers, const shape& extents) {
  std::vector<epilogue_step> steps;
  bool has_sum = false;
  for (std::size_t i = 0; i < layers.steps.size(); ++i) {
    const auto step = layers.chained(i);
    if (!step) break;
    if (!step->other) {
      if (!may_be_fused(step->layer)) break;
      steps.push_back({step->layer});
      continue;
    }
    const expression_source& added = layers.sources[*step->other];
    const bool fits = step->layer.function == pointwise_function::add && added.value && !has_sum &&
                      added.extents == extents;
    if (!fits) break;
    has_sum = true;
    steps.push_back({.added = *added.value});
  }
  return steps;
}

void lower_rest(cuda_lowering& b, const layer_group& group, const cuda_value& value,
                const followed_product& product, const fused_operation& fused) {
  const group_expression& layers = product.layers;
  group_expression rest = layers.after(fused.steps);
  std::string text;
  if (!fused.bias && !product.weights.bias.empty()) {
    rest = rest.plus(product.bias_term());
    text = "bias";
  }
  if (rest.steps.empty()) {
    b.set_output(group.last(), value);
    return;
  }
  const std::size_t done = fused.steps > 0 ? layers.done[fused.steps - 1] : layers.folded_layers;
  for (std::size_t i = done; i < group.epilogue.size(); ++i) {
    text += (text.empty() ? "" : ", ") + b.layer(group.epilogue[i]).kind;
  }
  text += " by a kernel of its own";
  if (!fused.why_not.empty()) text += " (" + fused.why_not + ")";
  b.note(text);
  lower_expression(b, rest, group.last(), &value);
}

}  // namespace graphline::nn
