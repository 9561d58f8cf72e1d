#include <algorithm>
#include <optional>
#include <utility>

#include "stages/nn/host/element_wise.hpp"
#include "stages/nn/host/pointwise_loops.hpp"

namespace graphline::nn {
namespace {

using function = pointwise_function;

/// A product and its expression. oneDNN fuses leading steps; loops evaluate the rest.
struct fused_product : followed_product {
  const layer_group& group;
  shape result;  ///< extents, with channels second, of the head's output or of its rows
  /// Layout of the rows of the head's output, packed and row-major. Zero if the result is viewed as
  /// the output, in a layout that oneDNN chooses.
  dnnl::memory::desc rows = {};
  bool bias = false;  ///< true if the step's name mentions a bias

  bool of_rows() const { return !rows.is_zero(); }
};

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
  std::size_t source = 0;          ///< index of the second operand, if `binary` is set
  dnnl::memory::desc layout = {};  ///< of the second operand
};

std::optional<dnnl::algorithm> binary_of(pointwise_function of, bool chained_first) {
  if (of == function::add) return dnnl::algorithm::binary_add;
  if (of == function::mul) return dnnl::algorithm::binary_mul;
  if (of == function::sub && chained_first) return dnnl::algorithm::binary_sub;
  if (of == function::div && chained_first) return dnnl::algorithm::binary_div;
  return {};
}

/// Returns the layout of the second operand of a binary post-operation on a result in the layout
/// `destination`. Returns empty unless the operand has the result's extents or one number per
/// channel.
std::optional<dnnl::memory::desc> second_layout(const host_lowering& b,
                                                const fused_product& product, const shape& extents,
                                                const dnnl::memory::desc& destination) {
  const shape& out = b.output_shape(b.layer(product.group.head));
  if (extents == out) return destination;
  if (!along_channels(extents, out, product.of_rows() ? out.rank() - 1 : 1)) return {};
  std::vector<std::int64_t> given(product.result.rank(), 1);
  given[1] = extents.elements();
  return plain_layout(shape(std::move(given)));
}

std::optional<fused_step> as_post_operation(const host_lowering& b, const fused_product& product,
                                            std::size_t index,
                                            const dnnl::memory::desc& destination) {
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
  const auto binary = binary_of(step->layer.function, step->first);
  const auto layout =
      second_layout(b, product, product.layers.sources[*step->other].extents, destination);
  if (!binary || !layout) return {};
  return fused_step{.binary = binary, .source = *step->other, .layout = *layout};
}

/// Returns the leading steps that can be post-operations of a primitive with the result
/// `destination`. Each must read the previous result, and nothing else may read that result.
std::vector<fused_step> fusible_steps(const host_lowering& b, const fused_product& product,
                                      const dnnl::memory::desc& destination) {
  std::vector<eltwise_form> taken;
  const auto clashes = [&](const eltwise_form& form) {
    return std::ranges::any_of(taken, [&](const eltwise_form& other) {
      return other.algorithm == form.algorithm && other != form;
    });
  };
  std::vector<fused_step> steps;
  while (steps.size() < product.layers.steps.size()) {
    const auto step = as_post_operation(b, product, steps.size(), destination);
    if (!step || std::ranges::any_of(step->functions, clashes)) break;
    taken.insert(taken.end(), step->functions.begin(), step->functions.end());
    steps.push_back(*step);
  }
  return steps;
}

dnnl::primitive_attr attributes_with(std::span<const fused_step> steps) {
  dnnl::post_ops operations;
  for (const fused_step& step : steps) {
    for (const eltwise_form& form : step.functions) {
      operations.append_eltwise(1.0F, form.algorithm, form.alpha, form.beta);
    }
    if (step.binary) operations.append_binary(*step.binary, step.layout);
  }
  dnnl::primitive_attr attributes = onednn_attributes();
  attributes.set_post_ops(operations);
  return attributes;
}

/// Returns the operands of post-operations in the layouts that the primitive reads.
std::vector<host_operand> bring_operands(host_lowering& b, const fused_product& product,
                                         std::span<const fused_step> steps) {
  const network_layer& head = b.layer(product.group.head);
  std::vector<host_operand> all;
  int position = 0;
  for (const fused_step& step : steps) {
    position += static_cast<int>(step.functions.size());
    if (!step.binary) continue;
    const expression_source& source = product.layers.sources[step.source];
    const bool rows = product.of_rows() && shape(step.layout.dims()) == product.result;
    const host_value tensor =
        operand_of(b, source, rows ? plain_layout(source.extents) : step.layout, head);
    all.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(position++) | DNNL_ARG_SRC_1,
                   {tensor.buffer, step.layout}});
  }
  return all;
}

/// Adds a product and its epilogue. oneDNN fuses as many steps as it can with the same
/// implementation; loops evaluate the rest.
///
/// `choose(attributes, destination)` makes the primitive descriptor. `weights` is the shape of the
/// weights for oneDNN.
template <class Primitive, class Choose>
void lower_product(host_lowering& b, fused_product product, const host_value& source,
                   const shape& weights, const Choose& choose) {
  using descriptor = typename Primitive::primitive_desc;
  const layer_group& group = product.group;
  const network_layer& head = b.layer(group.head);
  descriptor chosen =
      choose(onednn_attributes(), product.of_rows() ? product.rows : any_layout(product.result));
  const dnnl::memory::desc destination = chosen.dst_desc();
  const std::string alone = chosen.impl_info_str();
  std::vector<fused_step> fused = fusible_steps(b, product, destination);
  for (; !fused.empty(); fused.pop_back()) {
    try {
      const descriptor with = choose(attributes_with(fused), destination);
      if (with.impl_info_str() != alone) continue;
      chosen = with;
      break;
    } catch (const dnnl::error&) {
      continue;  // oneDNN cannot fuse these steps
    }
  }
  const std::size_t steps = fused.size();
  conv_weights& values = product.weights;
  std::vector<host_operand> all{
      {DNNL_ARG_SRC, b.in_layout(source, chosen.src_desc(), head)},
      {DNNL_ARG_WEIGHTS, b.constant(std::move(values.weight), weights, chosen.weights_desc())}};
  if (!values.bias.empty()) {
    const shape extents{std::ssize(values.bias)};
    all.push_back({DNNL_ARG_BIAS, b.constant(std::move(values.bias), extents, chosen.bias_desc())});
  }
  const auto second = bring_operands(b, product, fused);
  all.insert(all.end(), second.begin(), second.end());
  const host_value made = b.make_tensor(destination);
  all.push_back({DNNL_ARG_DST, made});
  const group_expression rest = product.layers.after(steps);
  const std::span<const std::size_t> epilogue = group.epilogue;
  const std::size_t done = rest.steps.empty() ? epilogue.size()
                           : steps > 0        ? product.layers.done[steps - 1]
                                              : product.layers.folded_layers;
  std::string name = head.kind;
  if (product.bias) name += "+bias";
  if (done > 0) name += "+" + kinds_of(b, epilogue.first(done));
  b.add_primitive<Primitive>(name, head, chosen, std::move(all));
  const host_value given =
      product.of_rows() ? host_value{made.buffer, plain_layout(b.output_shape(head))} : made;
  if (rest.steps.empty()) {
    b.set_output(group.last(), given);
  } else {
    lower_expression(b, rest, kinds_of(b, epilogue.subspan(done)), group.last(), &given);
  }
}

/// Returns a value of [N, C, H, W] with each channel `times` times in a row, channels last.
host_value with_repeated_channels(host_lowering& b, const network_layer& layer,
                                  const host_value& value, const shape& in, std::int64_t times) {
  const std::int64_t channels = in[1];
  const host_value from = b.in_layout(value, blocked_layout(in, all_channels), layer);
  const host_value to =
      b.make_tensor(blocked_layout({in[0], channels * times, in[2], in[3]}, all_channels));
  add_copy(b, layer.kind, {in[0] * in[2] * in[3], times, channels}, from, {0, {channels, 0, 1}}, to,
           {0, {channels * times, 1, times}});
  return to;
}

/// Returns the shape of the weights for oneDNN, in which groups are a leading dimension.
template <class Convolution>
shape weight_shape(const Convolution& conv, std::int64_t in_channels) {
  const std::int64_t in = in_channels / conv.groups;
  const std::int64_t out = conv.out_channels / conv.groups;
  if (conv.groups == 1) return {out, in, conv.kernel[0], conv.kernel[1]};
  return {conv.groups, out, in, conv.kernel[0], conv.kernel[1]};
}

/// Returns the product at the head of a group. If `rows` is set, the output is viewed as rows in
/// this layout.
fused_product product_of(const host_lowering& b, const layer_group& group, bool bias,
                         const dnnl::memory::desc& rows = {}) {
  const shape& out = b.output_shape(b.layer(group.head));
  const bool of_rows = !rows.is_zero();
  const std::size_t channels = of_rows ? out.rank() - 1 : 1;
  return {followed_product_of(b.network(), b.weights(), group, channels), group,
          of_rows ? shape(rows.dims()) : out, rows, bias};
}

/// Returns the layout of a product's bias; zero if it has none.
dnnl::memory::desc bias_layout(const fused_product& product) {
  const auto features = std::ssize(product.weights.bias);
  return features == 0 ? dnnl::memory::desc() : plain_layout({features});
}

dnnl::memory::dims dims_of(const extent_pair& pair) {
  return {pair[0], pair[1]};
}

/// Drops the outer rows and columns of a kernel that never read the input, only padding. Kernels
/// with a large dilation have them on small images. `weights` is [out_channels, in, kernel].
void drop_padding_taps(conv2d_layer& conv, std::vector<float>& weights,
                       const dnnl::memory::dims& in, const shape& out) {
  const extent_pair whole = conv.kernel;
  extent_pair after = conv.padding_after.value_or(conv.padding);
  extent_pair first{0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = in[axis + 2];
    const std::int64_t farthest = (out[axis + 2] - 1) * conv.stride[axis];
    const std::int64_t dilation = conv.dilation[axis];
    std::int64_t& padding = conv.padding[axis];
    std::int64_t& taps = conv.kernel[axis];
    for (; taps > 1 && farthest < padding && padding >= dilation; --taps) {
      padding -= dilation;
      ++first[axis];
    }
    for (; taps > 1 && (taps - 1) * dilation - padding >= extent && after[axis] >= dilation;
         --taps) {
      after[axis] -= dilation;
    }
  }
  conv.padding_after = after;
  if (conv.kernel == whole) return;
  std::vector<float> kept;
  for (std::size_t plane = 0; plane < weights.size(); plane += whole[0] * whole[1]) {
    for (std::int64_t y = 0; y < conv.kernel[0]; ++y) {
      const float* row = &weights[plane] + (first[0] + y) * whole[1] + first[1];
      kept.insert(kept.end(), row, row + conv.kernel[1]);
    }
  }
  weights = std::move(kept);
}

/// Returns true for CPUs with AVX2 and without AVX-512.
bool has_only_avx2() {
  const auto isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx2 || isa == dnnl::cpu_isa::avx2_vnni;
}

/// Returns a value of [N, C, H, W] between columns of zeros, in blocks of eight channels.
/// @pre C is a multiple of 8
host_value with_padded_columns(host_lowering& b, const network_layer& layer,
                               const host_value& value, const shape& in, std::int64_t before,
                               std::int64_t after) {
  constexpr std::int64_t block = 8;
  const std::int64_t wide = before + in[3] + after;
  const std::int64_t rows = in[0] * in[1] / block * in[2];
  const host_value from = b.in_layout(value, blocked_layout(in, block), layer);
  const host_value to = b.make_tensor(blocked_layout({in[0], in[1], in[2], wide}, block));
  add_copy(b, "padding", {rows * wide * block}, b.constant({0}, shape{1}, plain_layout({1})),
           {0, {0}}, to, {0, {1}});
  add_copy(b, "padding", {rows, in[3] * block}, from, {0, {in[3] * block, 1}}, to,
           {before * block, {wide * block, 1}});
  return to;
}

/// Adds a convolution of `source` and its epilogue. `in` is the input's layout, or leaves it to
/// oneDNN.
void lower_convolution(host_lowering& b, fused_product product, conv2d_layer conv,
                       host_value source, dnnl::memory::desc in) {
  using convolution = dnnl::convolution_forward;
  drop_padding_taps(conv, product.weights.weight, in.dims(), product.result);
  extent_pair after = conv.padding_after.value_or(conv.padding);
  // With AVX2, oneDNN has fast code only for a padding of at most three columns.
  if (has_only_avx2() && conv.groups == 1 && in.dims()[1] % 8 == 0 &&
      std::max(conv.padding[1], after[1]) > 3) {
    const std::int64_t before = std::exchange(conv.padding[1], 0);
    const std::int64_t behind = std::exchange(after[1], 0);
    const shape extents(in.dims());
    source = with_padded_columns(b, b.layer(product.group.head), source, extents, before, behind);
    in = any_layout({extents[0], extents[1], extents[2], before + extents[3] + behind});
  }
  const shape weights = weight_shape(conv, in.dims()[1]);
  const dnnl::memory::desc bias = bias_layout(product);

  const auto choose = [&](const dnnl::primitive_attr& attributes,
                          const dnnl::memory::desc& destination) {
    const dnnl::memory::dims dilation{conv.dilation[0] - 1, conv.dilation[1] - 1};
    const convolution::desc wanted(dnnl::prop_kind::forward_inference,
                                   dnnl::algorithm::convolution_direct, in, any_layout(weights),
                                   bias, destination, dims_of(conv.stride), dilation,
                                   dims_of(conv.padding), dims_of(after));
    return convolution::primitive_desc(wanted, attributes, onednn_engine());
  };
  lower_product<convolution>(b, std::move(product), source, weights, choose);
}

void add_product(host_lowering& b, const network_layer& layer, const char* name,
                 const strided_product& product, std::size_t a, std::size_t b_buffer,
                 std::size_t c) {
  const auto operand = [](int role, std::size_t buffer, const strided_matrices& of) {
    const dnnl::memory::desc layout(of.extents.extents(), dnnl::memory::data_type::f32, of.strides);
    return host_operand{
        role, {buffer, layout}, static_cast<std::size_t>(of.offset) * sizeof(float)};
  };
  const host_operand left = operand(DNNL_ARG_SRC, a, product.a);
  const host_operand right = operand(DNNL_ARG_WEIGHTS, b_buffer, product.b);
  const host_operand result = operand(DNNL_ARG_DST, c, product.c);
  const dnnl::matmul::desc wanted(left.tensor.layout, right.tensor.layout, result.tensor.layout);
  dnnl::primitive_attr attributes = onednn_attributes();
  if (product.scale != 1.0F) attributes.set_output_scales(0, {product.scale});
  const dnnl::matmul::primitive_desc chosen(wanted, attributes, onednn_engine());
  b.add_primitive<dnnl::matmul>(name, layer, chosen, {left, right, result});
}

}  // namespace

void lower(host_lowering& b, const layer_group& group, const conv2d_layer& written) {
  const network_layer& head = b.layer(group.head);
  conv2d_layer conv = written;
  shape in = b.input_shape(head);
  host_value source = b.input_of(head);
  // oneDNN has fast code only for depthwise convolutions that keep the number of channels.
  if (conv.groups > 1 && conv.groups == in[1] && conv.out_channels > in[1]) {
    source = with_repeated_channels(b, head, source, in, conv.out_channels / in[1]);
    in = {in[0], conv.out_channels, in[2], in[3]};
    conv.groups = conv.out_channels;
  }
  lower_convolution(b, product_of(b, group, conv.bias), conv, source, any_layout(in));
}

void lower(host_lowering& b, const layer_group& group, const linear_layer& linear) {
  using inner_product = dnnl::inner_product_forward;
  const network_layer& head = b.layer(group.head);
  const shape in = as_rows(b.input_shape(head));
  const shape weight_shape{linear.out_features, in[1]};
  const dnnl::memory::desc rows = plain_layout(as_rows(b.output_shape(head)));
  const host_value source =
      b.in_layout(b.in_shape(b.input_of(head), in, head), plain_layout(in), head);
  // With AVX2, oneDNN computes inner products by its matrix product, which packs the weights in
  // every frame and depends on how far rows are apart. As a 1x1 convolution of an image with a
  // pixel per row, the product takes 0.4 to 1.2 times as long.
  if (has_only_avx2()) {
    const auto pixels = [&](std::int64_t channels) {
      return blocked_layout({1, channels, in[0], 1}, all_channels);
    };
    const conv2d_layer conv{.out_channels = linear.out_features, .kernel = {1, 1}};
    return lower_convolution(b, product_of(b, group, linear.bias, pixels(linear.out_features)),
                             conv, {source.buffer, pixels(in[1])}, pixels(in[1]));
  }
  fused_product product = product_of(b, group, linear.bias, rows);
  const dnnl::memory::desc bias = bias_layout(product);

  const auto choose = [&](const dnnl::primitive_attr& attributes,
                          const dnnl::memory::desc& destination) {
    const auto with = [&](const dnnl::memory::desc& weights) {
      const inner_product::desc wanted(dnnl::prop_kind::forward_inference, any_layout(in), weights,
                                       bias, destination);
      return inner_product::primitive_desc(wanted, attributes, onednn_engine());
    };
    const inner_product::primitive_desc chosen = with(any_layout(weight_shape));
    // oneDNN's default layout stores a row per input feature. If rows are a multiple of 2 KiB
    // apart, they map to few cache sets, and the product takes up to twice as long.
    constexpr std::int64_t apart = 2048 / sizeof(float);
    constexpr std::int64_t many = 16;  // with fewer input rows, the default layout is faster
    const bool by_inputs = chosen.weights_desc() == plain_layout(weight_shape, /*transposed=*/true);
    const bool crowded = in[0] >= many && linear.out_features % apart == 0;
    return by_inputs && crowded ? with(plain_layout(weight_shape)) : chosen;
  };
  lower_product<inner_product>(b, std::move(product), source, weight_shape, choose);
}

/// oneDNN applies the bias and post-operations of a deconvolution to one element at a time, so
/// Graphline's loops apply them.
void lower(host_lowering& b, const layer_group& group, const conv_transpose2d_layer& conv) {
  using deconvolution = dnnl::deconvolution_forward;
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  const shape weights = weight_shape(conv, in[1]);
  fused_product product = product_of(b, group, conv.bias);
  group_expression rest = product.layers;
  if (!product.weights.bias.empty()) rest = rest.plus(product.bias_term());

  const deconvolution::desc wanted(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, any_layout(in),
      any_layout(weights), dnnl::memory::desc(), any_layout(out), dims_of(conv.stride),
      {conv.dilation[0] - 1, conv.dilation[1] - 1}, dims_of(conv.padding),
      dims_of(conv.padding_after));
  const deconvolution::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  const host_value source = b.in_layout(b.input_of(head), chosen.src_desc(), head);
  const host_value made = b.make_tensor(chosen.dst_desc());
  b.add_primitive<deconvolution>(head.kind, head, chosen,
                                 {{DNNL_ARG_SRC, source},
                                  {DNNL_ARG_WEIGHTS, b.constant(std::move(product.weights.weight),
                                                                weights, chosen.weights_desc())},
                                  {DNNL_ARG_DST, made}});
  if (rest.steps.empty()) {
    b.set_output(group.last(), made);
    return;
  }
  const std::string name = kinds_of(b, group.epilogue);
  lower_expression(b, rest, name.empty() ? "bias" : name, group.last(), &made);
}

void lower(host_lowering& b, const layer_group& group, const matmul_layer& matmul) {
  const network_layer& head = b.layer(group.head);
  const shape& out = b.output_shape(head);
  const strided_product product = matrices_of(matmul, b.network().shape_of(head.inputs[0]),
                                              b.network().shape_of(head.inputs[1]), out);
  const host_value result = b.make_tensor(plain_layout(out));
  add_product(b, head, "matmul", product, b.plain_input_of(head, 0).buffer,
              b.plain_input_of(head, 1).buffer, result.buffer);
  b.set_output(group.head, result);
}

void lower(host_lowering& b, const layer_group& group, const attention_layer& attention) {
  const network_layer& head = b.layer(group.head);
  const shape& output = b.output_shape(head);
  const attention_products products = products_of(attention, output);
  const std::size_t packed = b.plain_input_of(head).buffer;
  const host_value scores = b.make_tensor(plain_layout(products.scores.c.extents));
  add_product(b, head, "scores", products.scores, packed, packed, scores.buffer);

  const dnnl::softmax_forward::desc wanted(dnnl::prop_kind::forward_inference, scores.layout, 3);
  const dnnl::softmax_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  b.add_primitive<dnnl::softmax_forward>("softmax", head, chosen,
                                         {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});

  const host_value result = b.make_tensor(plain_layout(output));
  add_product(b, head, "attention", products.sums, scores.buffer, packed, result.buffer);
  b.set_output(group.head, result);
}

}  // namespace graphline::nn
