#include <cmath>

#include "stages/network/host/lowering.hpp"

namespace graphline {
namespace {

/// Grouped weights have the groups as a dimension of their own.
shape weight_shape(const conv2d_layer& conv, std::int64_t in_channels) {
  const std::int64_t in = in_channels / conv.groups;
  const std::int64_t out = conv.out_channels / conv.groups;
  if (conv.groups == 1) return {out, in, conv.kernel[0], conv.kernel[1]};
  return {conv.groups, out, in, conv.kernel[0], conv.kernel[1]};
}

dnnl::memory::dims dims_of(const extent_pair& pair) {
  return {pair[0], pair[1]};
}

using extents = dnnl::memory::dims;

dnnl::memory::desc strided(const extents& sizes, const extents& strides) {
  return {sizes, dnnl::memory::data_type::f32, strides};
}

void add_product(program_builder& b, const network_layer& layer, const char* name, float scale,
                 const program_operand& left, const program_operand& right,
                 const program_tensor& result) {
  const dnnl::matmul::desc wanted(left.tensor.layout, right.tensor.layout, result.layout);
  dnnl::primitive_attr attributes = onednn_attributes();
  if (scale != 1.0F) attributes.set_output_scales(0, {scale});
  const dnnl::matmul::primitive_desc chosen(wanted, attributes, onednn_engine());
  b.add_primitive<dnnl::matmul>(name, layer, chosen, {left, right, {DNNL_ARG_DST, result}});
}

}  // namespace

void lower(program_builder& b, const fused_layers& group, const conv2d_layer& conv) {
  using convolution = dnnl::convolution_forward;
  const network_layer& head = b.layer(group.head);
  const shape& in = b.network().shape_of(head.inputs[0]);
  const shape weights = weight_shape(conv, in[1]);
  const conv_weights values = folded_weights(b.network(), b.weights(), group);
  const bool bias = !values.bias.empty();
  const shape bias_shape{conv.out_channels};

  const auto choose = [&](const dnnl::primitive_attr& attributes,
                          const dnnl::memory::desc& destination) {
    const dnnl::memory::dims dilation{conv.dilation[0] - 1, conv.dilation[1] - 1};
    const dnnl::memory::desc none;
    const convolution::desc wanted(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any_layout(in),
        any_layout(weights), bias ? plain_layout(bias_shape) : none, destination,
        dims_of(conv.stride), dilation, dims_of(conv.padding), dims_of(conv.padding));
    return convolution::primitive_desc(wanted, attributes, onednn_engine());
  };
  const auto operands = [&](const convolution::primitive_desc& chosen) {
    std::vector<program_operand> all{
        {DNNL_ARG_SRC, b.in_layout(b.input_of(head), chosen.src_desc(), head)},
        {DNNL_ARG_WEIGHTS, b.constant(values.weight, weights, chosen.weights_desc())}};
    if (bias) {
      all.push_back({DNNL_ARG_BIAS, b.constant(values.bias, bias_shape, chosen.bias_desc())});
    }
    return all;
  };
  // "+bias" names what the layer has; a folded norm is named itself.
  lower_with_epilogue<convolution>(b, group, head.output, conv.bias, choose, operands);
}

void lower(program_builder& b, const fused_layers& group, const linear_layer& linear) {
  using inner_product = dnnl::inner_product_forward;
  const network_layer& head = b.layer(group.head);
  const shape in = as_rows(b.network().shape_of(head.inputs[0]));
  const shape weight_shape{linear.out_features, in[1]};
  const shape bias_shape{linear.out_features};
  const auto weight = b.weights().of(head, "weight");
  const auto bias = b.weights().of(head, "bias");

  const auto choose = [&](const dnnl::primitive_attr& attributes,
                          const dnnl::memory::desc& destination) {
    const dnnl::memory::desc none;
    const inner_product::desc wanted(dnnl::prop_kind::forward_inference, any_layout(in),
                                     any_layout(weight_shape),
                                     linear.bias ? plain_layout(bias_shape) : none, destination);
    return inner_product::primitive_desc(wanted, attributes, onednn_engine());
  };
  const auto operands = [&](const inner_product::primitive_desc& chosen) {
    std::vector<program_operand> all{
        {DNNL_ARG_SRC,
         b.in_layout(b.in_shape(b.input_of(head), in, head), chosen.src_desc(), head)},
        {DNNL_ARG_WEIGHTS, b.constant(weight, weight_shape, chosen.weights_desc())}};
    if (linear.bias) {
      all.push_back({DNNL_ARG_BIAS, b.constant(bias, bias_shape, chosen.bias_desc())});
    }
    return all;
  };
  lower_with_epilogue<inner_product>(b, group, as_rows(head.output), linear.bias, choose, operands);
}

/// The heads are read where they lie among the queries, keys and values, and written where they lie
/// in the result.
void lower(program_builder& b, const fused_layers& group, const attention_layer& attention) {
  const network_layer& head = b.layer(group.head);
  const std::int64_t batch = head.output[0];
  const std::int64_t tokens = head.output[1];
  const std::int64_t dim = head.output[2];
  const std::int64_t heads = attention.heads;
  const std::int64_t depth = dim / heads;
  const program_tensor packed =
      b.in_layout(b.input_of(head), plain_layout({batch, tokens, 3 * dim}), head);

  const extents by_token{tokens * 3 * dim, depth, 3 * dim, 1};
  const extents by_feature{tokens * 3 * dim, depth, 1, 3 * dim};
  const auto part = [&](int role, std::int64_t which, const dnnl::memory::desc& layout) {
    return program_operand{
        role, {packed.buffer, layout}, static_cast<std::size_t>(which * dim) * sizeof(float)};
  };
  const auto per_token = strided({batch, heads, tokens, depth}, by_token);
  const auto transposed = strided({batch, heads, depth, tokens}, by_feature);

  const program_tensor scores = b.make_tensor(plain_layout({batch, heads, tokens, tokens}));
  add_product(b, head, "scores", 1.0F / std::sqrt(static_cast<float>(depth)),
              part(DNNL_ARG_SRC, 0, per_token), part(DNNL_ARG_WEIGHTS, 1, transposed), scores);

  const dnnl::softmax_forward::desc wanted(dnnl::prop_kind::forward_inference, scores.layout, 3);
  const dnnl::softmax_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  b.add_primitive<dnnl::softmax_forward>("softmax", head, chosen,
                                         {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});

  const program_tensor result = b.make_tensor(plain_layout(head.output));
  add_product(
      b, head, "attention", 1.0F, {DNNL_ARG_SRC, scores}, part(DNNL_ARG_WEIGHTS, 2, per_token),
      {result.buffer, strided({batch, heads, tokens, depth}, {tokens * dim, depth, dim, 1})});
  b.set_output(group.head, result);
}

}  // namespace graphline
