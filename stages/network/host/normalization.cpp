#include "stages/network/host/lowering.hpp"

namespace graphline {

/// A batch norm that no convolution took into its weights.
void lower(program_builder& b, const fused_layers& group, const batch_norm2d_layer& norm) {
  using normalization = dnnl::batch_normalization_forward;
  const network_layer& head = b.layer(group.head);
  const program_tensor source = b.input_of(head);
  const normalization::desc wanted(
      dnnl::prop_kind::forward_inference, source.layout, static_cast<float>(norm.eps),
      dnnl::normalization_flags::use_global_stats | dnnl::normalization_flags::use_scale |
          dnnl::normalization_flags::use_shift);
  const normalization::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());

  const shape channels{head.output[1]};
  const auto per_channel = [&](std::string_view name) {
    const auto values = b.weight(head, name);
    return b.constant({values.begin(), values.end()}, channels, plain_layout(channels));
  };
  const program_tensor result = b.make_tensor(chosen.dst_desc());
  b.add_primitive<normalization>(head.kind, head, chosen,
                                 {{DNNL_ARG_SRC, source},
                                  {DNNL_ARG_MEAN, per_channel("running_mean")},
                                  {DNNL_ARG_VARIANCE, per_channel("running_var")},
                                  {DNNL_ARG_SCALE, per_channel("weight")},
                                  {DNNL_ARG_SHIFT, per_channel("bias")},
                                  {DNNL_ARG_DST, result}});
  b.set_output(group.head, result);
}

void lower(program_builder& b, const fused_layers& group, const layer_norm_layer& norm) {
  using normalization = dnnl::layer_normalization_forward;
  const network_layer& head = b.layer(group.head);
  const shape rows = as_rows(head.output);
  const program_tensor source =
      b.in_layout(b.in_shape(b.input_of(head), rows, head), plain_layout(rows), head);
  const normalization::desc wanted(
      dnnl::prop_kind::forward_inference, source.layout, static_cast<float>(norm.eps),
      dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift);
  const normalization::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());

  const shape features{rows[1]};
  const auto per_feature = [&](std::string_view name) {
    const auto values = b.weight(head, name);
    return b.constant({values.begin(), values.end()}, features, plain_layout(features));
  };
  const program_tensor result = b.make_tensor(chosen.dst_desc());
  b.add_primitive<normalization>(head.kind, head, chosen,
                                 {{DNNL_ARG_SRC, source},
                                  {DNNL_ARG_SCALE, per_feature("weight")},
                                  {DNNL_ARG_SHIFT, per_feature("bias")},
                                  {DNNL_ARG_DST, result}});
  b.set_output(group.head, b.in_shape(result, head.output, head));
}

void lower(program_builder& b, const fused_layers& group, const softmax_layer& softmax) {
  const network_layer& head = b.layer(group.head);
  const auto rank = static_cast<std::int64_t>(head.output.rank());
  const auto axis = static_cast<int>(softmax.dim < 0 ? softmax.dim + rank : softmax.dim);
  // oneDNN's fast softmax wants a packed tensor; on blocked ones it falls back to its reference.
  const program_tensor source = b.in_layout(b.input_of(head), plain_layout(head.output), head);
  const dnnl::softmax_forward::desc wanted(dnnl::prop_kind::forward_inference, source.layout, axis);
  const dnnl::softmax_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  const program_tensor result = b.make_tensor(chosen.dst_desc());
  b.add_primitive<dnnl::softmax_forward>(head.kind, head, chosen,
                                         {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}});
  b.set_output(group.head, result);
}

}  // namespace graphline
