#include "stages/nn/host/element_wise.hpp"

#include <memory>
#include <utility>

namespace graphline::nn {
namespace {

using function = pointwise_function;

/// Pointwise loops bound to the tensors of a slot.
class loops_operation final : public host_operation {
 public:
  loops_operation(std::string name, pointwise_loops loops, std::size_t operands,
                  const std::vector<onednn_argument>& arguments)
      : name_(std::move(name)), loops_(std::move(loops)) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      auto* data = static_cast<float*>(arguments[i].data);
      if (i < operands) {
        operands_.push_back(data);
      } else {
        results_.push_back(data);
      }
    }
  }

  std::string_view name() const noexcept override { return name_; }
  void run() override { loops_.run(operands_, results_); }

 private:
  std::string name_;
  pointwise_loops loops_;
  std::vector<const float*> operands_;
  std::vector<float*> results_;
};

/// Adds leading extents of 1 up to `rank`.
shape with_rank(const shape& s, std::size_t rank) {
  std::vector<std::int64_t> extents(rank - s.rank(), 1);
  extents.insert(extents.end(), s.extents().begin(), s.extents().end());
  return shape(std::move(extents));
}

/// Returns the strides of a tensor with `block` interleaved channels. Broadcast dimensions have
/// stride 0.
std::vector<std::int64_t> blocked_strides(const shape& s, std::int64_t block) {
  const std::vector<std::int64_t> extents = blocked_extents(s, block);
  std::vector<std::int64_t> strides = packed_strides(shape(extents));
  for (const std::size_t axis : {0U, 2U, 3U}) {
    if (extents[axis] == 1) strides[axis] = 0;
  }
  return strides;
}

/// Zeroes the channels that pad the last block.
void zero_padding(host_lowering& b, const host_value& tensor, const shape& s, std::int64_t block) {
  const std::int64_t used = block == all_channels ? 0 : s[1] % block;
  if (used == 0) return;
  const std::vector<std::int64_t> strides = blocked_strides(s, block);
  const std::int64_t begin = (s[1] / block) * strides[1] + used;
  const pointwise_expression copy{.operands = 1, .steps = {}, .results = {0}};
  const pointwise_space space{
      {s[0], s[2] * s[3], block - used},
      {{0, 0, 0}, {s.elements() == 0 ? 0 : blocked_extents(s, block)[1] * strides[1], block, 1}}};
  add_loops(b, "padding", copy, space,
            {{DNNL_ARG_SRC, b.constant({0.0F}, shape{1}, plain_layout({1}))},
             {DNNL_ARG_DST, tensor, static_cast<std::size_t>(begin) * sizeof(float)}});
}

/// Adds the numbers of a source as a constant in the layout `wanted`.
host_value constant_of(host_lowering& b, const expression_source& source, const shape& extents,
                       const dnnl::memory::desc& wanted) {
  std::vector<float> values;
  for (const double number : source.numbers) values.push_back(static_cast<float>(number));
  return b.constant(std::move(values), extents, wanted);
}

struct eltwise_form {
  dnnl::algorithm algorithm;
  float alpha = 0;
  float beta = 0;

  bool operator==(const eltwise_form&) const = default;
};

std::vector<eltwise_form> eltwise_of(const pointwise_layer& layer) {
  const float alpha = layer.alpha;
  const float beta = layer.beta;
  switch (layer.function) {
    case function::abs:
      return {{dnnl::algorithm::eltwise_abs}};
    case function::clip:
      return {{dnnl::algorithm::eltwise_clip, alpha, beta}};
    case function::elu:
      return {{dnnl::algorithm::eltwise_elu, alpha}};
    case function::exp:
      return {{dnnl::algorithm::eltwise_exp}};
    case function::gelu_erf:
      return {{dnnl::algorithm::eltwise_gelu_erf}};
    case function::gelu_tanh:
      return {{dnnl::algorithm::eltwise_gelu_tanh}};
    case function::hard_sigmoid:
      return {{dnnl::algorithm::eltwise_linear, alpha, beta},
              {dnnl::algorithm::eltwise_clip, 0.0F, 1.0F}};
    case function::hard_swish:
      return {{dnnl::algorithm::eltwise_hardswish}};
    case function::leaky_relu:
      return {{dnnl::algorithm::eltwise_relu, alpha}};
    case function::linear:
      return {{dnnl::algorithm::eltwise_linear, alpha, beta}};
    case function::mish:
      return {{dnnl::algorithm::eltwise_mish}};
    case function::neg:
      return {{dnnl::algorithm::eltwise_linear, -1.0F}};
    case function::relu:
      return {{dnnl::algorithm::eltwise_relu}};
    case function::sigmoid:
      return {{dnnl::algorithm::eltwise_logistic}};
    case function::silu:
      return {{dnnl::algorithm::eltwise_swish, 1.0F}};
    case function::sqrt:
      return {{dnnl::algorithm::eltwise_sqrt}};
    case function::tanh:
      return {{dnnl::algorithm::eltwise_tanh}};
    default:
      return {};
  }
}

/// A step of an expression as post-operations.
struct fused_step {
  std::vector<eltwise_form> functions = {};
  std::optional<dnnl::algorithm> binary = {};
  std::size_t source = 0;  ///< index of the second operand, if `binary` is set
};

std::optional<dnnl::algorithm> binary_of(pointwise_function of, bool chained_first) {
  if (of == function::add) return dnnl::algorithm::binary_add;
  if (of == function::mul) return dnnl::algorithm::binary_mul;
  if (of == function::sub && chained_first) return dnnl::algorithm::binary_sub;
  if (of == function::div && chained_first) return dnnl::algorithm::binary_div;
  return {};
}

/// Returns the extents of the second operand of a binary post-operation. Returns empty unless the
/// operand has the result's extents or one number per channel.
std::optional<shape> second_extents(const host_lowering& b, const fused_product& product,
                                    const shape& extents) {
  const shape& out = b.output_shape(b.layer(product.group.head));
  if (extents == out) return product.result;
  if (!along_channels(extents, out, product.of_rows() ? out.rank() - 1 : 1)) return {};
  std::vector<std::int64_t> given(product.result.rank(), 1);
  given[1] = extents.elements();
  return shape(std::move(given));
}

std::optional<fused_step> as_post_operation(const host_lowering& b, const fused_product& product,
                                            std::size_t index) {
  const auto step = product.layers.chained(index);
  if (!step) return {};
  const function computed = step->layer.function;
  // oneDNN's tanh gathers from a table; with AVX2 it takes three times as long as Graphline's
  // loops.
  const bool gathers = computed == function::tanh || computed == function::gelu_tanh;
  if (gathers && pointwise_loops::instructions() == "AVX2") return {};
  if (!step->other) {
    fused_step made{.functions = eltwise_of(step->layer)};
    if (made.functions.empty()) return {};
    return made;
  }
  const fused_step made{.binary = binary_of(step->layer.function, step->first),
                        .source = *step->other};
  const bool fits =
      made.binary && second_extents(b, product, product.layers.sources[made.source].extents);
  return fits ? std::optional(made) : std::nullopt;
}

}  // namespace

void add_loops(host_lowering& b, std::string_view content, const pointwise_expression& expression,
               const pointwise_space& space, std::vector<host_operand> tensors) {
  const pointwise_loops loops(expression, space);
  const std::string name =
      std::string(content) + " [" + std::string(pointwise_loops::instructions()) + " loops]";
  b.add_step({name, std::move(tensors),
              [name, loops,
               operands = expression.operands](const std::vector<onednn_argument>& arguments) {
                return std::make_unique<loops_operation>(name, loops, operands, arguments);
              }});
}

std::int64_t channel_block(const dnnl::memory::desc& layout) {
  const shape s(layout.dims());
  if (s.rank() != 4) return 1;
  for (const std::int64_t block :
       {std::int64_t{1}, std::int64_t{8}, std::int64_t{16}, all_channels}) {
    if (layout == blocked_layout(s, block)) return block;
  }
  return 1;
}

dnnl::memory::desc blocked_layout(const shape& s, std::int64_t block) {
  using tag = dnnl::memory::format_tag;
  if (block == 1) return plain_layout(s);
  return {s.extents(), dnnl::memory::data_type::f32,
          block == all_channels ? tag::nhwc
          : block == 8          ? tag::nChw8c
                                : tag::nChw16c};
}

std::vector<std::int64_t> blocked_extents(const shape& s, std::int64_t block) {
  const std::int64_t together = block == all_channels ? s[1] : block;
  return {s[0], (s[1] + together - 1) / together, s[2], s[3], together};
}

std::string kinds_of(const host_lowering& b, std::span<const std::size_t> layers) {
  std::string name;
  for (const std::size_t layer : layers) name += (name.empty() ? "" : "+") + b.layer(layer).kind;
  return name;
}

void lower_expression(host_lowering& b, const group_expression& layers, std::string_view content,
                      std::size_t last, const host_value* given) {
  const network_layer& owner = b.layer(last);
  const shape& out = b.output_shape(owner);
  const auto is_given = [&](std::size_t source) { return source == 0 && given != nullptr; };
  std::int64_t block = 1;
  for (std::size_t i = 0; i < layers.sources.size() && block == 1; ++i) {
    const expression_source& source = layers.sources[i];
    if (source.extents != out || !source.numbers.empty()) continue;
    block = channel_block(is_given(i) ? given->layout : b.value(*source.value).layout);
  }
  if (block > 1 && out[1] < block) block = 1;  // larger blocks would be mostly padding
  const bool blocked = block != 1;
  pointwise_space space{blocked ? blocked_extents(out, block) : out.extents(), {}};
  std::vector<host_operand> tensors;
  bool in_place = false;
  for (std::size_t i = 0; i < layers.sources.size(); ++i) {
    const expression_source& source = layers.sources[i];
    const shape extents = blocked ? with_rank(source.extents, 4) : source.extents;
    const bool has_channels = blocked && extents[1] == out[1];
    const dnnl::memory::desc layout = blocked_layout(extents, has_channels ? block : 1);
    host_value tensor;
    if (is_given(i)) {
      tensor = b.in_layout(*given, layout, owner);
      in_place = source.extents == out;
    } else if (source.numbers.empty()) {
      tensor = b.in_layout(b.in_shape(b.value(*source.value), extents, owner), layout, owner);
    } else {
      tensor = constant_of(b, source, extents, layout);
    }
    tensors.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), tensor});
    if (has_channels) {
      space.strides.push_back(blocked_strides(extents, block));
    } else {
      std::vector<std::int64_t> strides = broadcast_strides(extents, out);
      if (blocked) strides.push_back(0);  // broadcast along the channels
      space.strides.push_back(std::move(strides));
    }
  }
  const host_value result =
      in_place ? tensors.front().tensor : b.make_tensor(blocked_layout(out, block));
  space.strides.push_back(blocked ? blocked_strides(out, block) : packed_strides(out));
  tensors.push_back({DNNL_ARG_DST, result});
  add_loops(b, content, layers, space, std::move(tensors));
  if (blocked) zero_padding(b, result, out, block);
  b.set_output(last, result);
}

std::size_t most_post_operations(const host_lowering& b, const fused_product& product) {
  std::vector<eltwise_form> taken;
  const auto clashes = [&](const eltwise_form& form) {
    return std::ranges::any_of(taken, [&](const eltwise_form& other) {
      return other.algorithm == form.algorithm && other != form;
    });
  };
  std::size_t steps = 0;
  for (; steps < product.layers.steps.size(); ++steps) {
    const auto step = as_post_operation(b, product, steps);
    if (!step || std::ranges::any_of(step->functions, clashes)) break;
    taken.insert(taken.end(), step->functions.begin(), step->functions.end());
  }
  return steps;
}

post_operations make_post_operations(const host_lowering& b, const fused_product& product,
                                     std::size_t steps, const dnnl::memory::desc& destination) {
  post_operations made{onednn_attributes(), {}};
  dnnl::post_ops operations;
  for (std::size_t i = 0; i < steps; ++i) {
    const fused_step step = as_post_operation(b, product, i).value();
    for (const eltwise_form& form : step.functions) {
      operations.append_eltwise(1.0F, form.algorithm, form.alpha, form.beta);
    }
    if (!step.binary) continue;
    const shape extents =
        second_extents(b, product, product.layers.sources[step.source].extents).value();
    const dnnl::memory::desc layout =
        extents == product.result ? destination : plain_layout(extents);
    made.operands.push_back({operations.len(), step.source, layout});
    operations.append_binary(*step.binary, layout);
  }
  made.attributes.set_post_ops(operations);
  return made;
}

std::vector<host_operand> bring_operands(host_lowering& b, const fused_product& product,
                                         const post_operations& operations) {
  const network_layer& head = b.layer(product.group.head);
  std::vector<host_operand> all;
  for (const auto& [position, index, layout] : operations.operands) {
    const expression_source& source = product.layers.sources[index];
    const shape extents(layout.dims());
    host_value tensor;
    if (!source.numbers.empty()) {
      tensor = constant_of(b, source, extents, layout);
    } else if (product.of_rows() && extents == product.result) {
      const host_value& value = b.value(*source.value);
      tensor = {b.in_layout(value, plain_layout(source.extents), head).buffer, layout};
    } else {
      tensor = b.in_layout(b.in_shape(b.value(*source.value), extents, head), layout, head);
    }
    all.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1, tensor});
  }
  return all;
}

void lower_element_wise(host_lowering& b, const layer_group& group) {
  const std::vector<std::size_t> layers = group.members();
  const shape& out = b.output_shape(b.layer(group.last()));
  const std::size_t axis = out.rank() == 4 ? 1 : std::max<std::size_t>(out.rank(), 1) - 1;
  const group_expression expression = expression_of(b.network(), b.weights(), layers, axis);
  lower_expression(b, expression, kinds_of(b, layers), group.last());
}

}  // namespace graphline::nn
