#include <utility>

#include "stages/nn/host/element_wise.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn {
namespace {

/// Returns a value of [N, C, H, W] with each channel `times` times in a row, channels last.
host_value with_repeated_channels(host_lowering& b, const network_layer& layer,
                                  const host_value& value, const shape& in, std::int64_t times) {
  const std::int64_t channels = in[1];
  const host_value from = b.in_layout(value, blocked_layout(in, all_channels), layer);
  const host_value to =
      b.make_tensor(blocked_layout({in[0], channels * times, in[2], in[3]}, all_channels));
  const pointwise_expression copy{.operands = 1, .steps = {}, .results = {0}};
  add_loops(
      b, layer.kind, copy,
      {{in[0] * in[2] * in[3], times, channels}, {{channels, 0, 1}, {channels * times, 1, times}}},
      {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
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

/// Adds a convolution of `source` and its epilogue. `in` is the input's layout, or leaves it to
/// oneDNN.
void lower_convolution(host_lowering& b, fused_product product, conv2d_layer conv,
                       const host_value& source, const dnnl::memory::desc& in) {
  using convolution = dnnl::convolution_forward;
  const network_layer& head = b.layer(product.group.head);
  conv_weights& values = product.weights;
  drop_padding_taps(conv, values.weight, in.dims(), product.result);
  const shape weights = weight_shape(conv, in.dims()[1]);
  const bool bias = !values.bias.empty();
  const shape bias_shape{conv.out_channels};

  const auto choose = [&](const dnnl::primitive_attr& attributes,
                          const dnnl::memory::desc& destination) {
    const dnnl::memory::dims dilation{conv.dilation[0] - 1, conv.dilation[1] - 1};
    const dnnl::memory::desc none;
    const convolution::desc wanted(dnnl::prop_kind::forward_inference,
                                   dnnl::algorithm::convolution_direct, in, any_layout(weights),
                                   bias ? plain_layout(bias_shape) : none, destination,
                                   dims_of(conv.stride), dilation, dims_of(conv.padding),
                                   dims_of(conv.padding_after.value_or(conv.padding)));
    return convolution::primitive_desc(wanted, attributes, onednn_engine());
  };
  const auto operands = [&](const convolution::primitive_desc& chosen) {
    std::vector<host_operand> all{
        {DNNL_ARG_SRC, b.in_layout(source, chosen.src_desc(), head)},
        {DNNL_ARG_WEIGHTS, b.constant(std::move(values.weight), weights, chosen.weights_desc())}};
    if (bias) {
      all.push_back(
          {DNNL_ARG_BIAS, b.constant(std::move(values.bias), bias_shape, chosen.bias_desc())});
    }
    return all;
  };
  lower_product<convolution>(b, product, choose, operands);
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
  const shape bias_shape{linear.out_features};
  const dnnl::memory::desc rows = plain_layout(as_rows(b.output_shape(head)));
  const host_value source =
      b.in_layout(b.in_shape(b.input_of(head), in, head), plain_layout(in), head);
  // With AVX2, oneDNN computes inner products by its matrix product, which packs the weights in
  // every frame and depends on how far rows are apart. As a 1x1 convolution of an image with a
  // pixel per row, the product takes 0.4 to 1.2 times as long.
  const auto isa = dnnl::get_effective_cpu_isa();
  if (isa == dnnl::cpu_isa::avx2 || isa == dnnl::cpu_isa::avx2_vnni) {
    const auto pixels = [&](std::int64_t channels) {
      return blocked_layout({1, channels, in[0], 1}, all_channels);
    };
    const conv2d_layer conv{.out_channels = linear.out_features, .kernel = {1, 1}};
    return lower_convolution(b, product_of(b, group, linear.bias, pixels(linear.out_features)),
                             conv, {source.buffer, pixels(in[1])}, pixels(in[1]));
  }
  fused_product product = product_of(b, group, linear.bias, rows);
  conv_weights& values = product.weights;
  const bool bias = !values.bias.empty();

  const auto choose = [&](const dnnl::primitive_attr& attributes,
                          const dnnl::memory::desc& destination) {
    const auto with = [&](const dnnl::memory::desc& weights) {
      const dnnl::memory::desc none;
      const inner_product::desc wanted(dnnl::prop_kind::forward_inference, any_layout(in), weights,
                                       bias ? plain_layout(bias_shape) : none, destination);
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
  const auto operands = [&](const inner_product::primitive_desc& chosen) {
    std::vector<host_operand> all{
        {DNNL_ARG_SRC, b.in_layout(source, chosen.src_desc(), head)},
        {DNNL_ARG_WEIGHTS,
         b.constant(std::move(values.weight), weight_shape, chosen.weights_desc())}};
    if (bias) {
      all.push_back(
          {DNNL_ARG_BIAS, b.constant(std::move(values.bias), bias_shape, chosen.bias_desc())});
    }
    return all;
  };
  lower_product<inner_product>(b, product, choose, operands);
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
