#include "stages/network/fusion.hpp"
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

}  // namespace

void lower(program_builder& b, const fused_layers& group, const conv2d_layer& conv) {
  using convolution = dnnl::convolution_forward;
  const network_layer& head = b.layer(group.head);
  const shape& in = b.network().shape_of(head.inputs[0]);
  const shape weights = weight_shape(conv, in[1]);
  conv_weights values = folded_weights(b.network(), b.weights(), group);
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
        {DNNL_ARG_WEIGHTS, b.constant(std::move(values.weight), weights, chosen.weights_desc())}};
    if (bias) {
      all.push_back(
          {DNNL_ARG_BIAS, b.constant(std::move(values.bias), bias_shape, chosen.bias_desc())});
    }
    return all;
  };
  // "+bias" names what the layer has; a folded norm is named itself.
  lower_with_epilogue<convolution>(b, group, head.output, conv.bias, choose, operands);
}

}  // namespace graphline
