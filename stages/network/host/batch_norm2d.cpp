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
  b.add_primitive(head.kind, head, normalization(chosen), chosen, chosen.scratchpad_desc(),
                  {{DNNL_ARG_SRC, source},
                   {DNNL_ARG_MEAN, per_channel("running_mean")},
                   {DNNL_ARG_VARIANCE, per_channel("running_var")},
                   {DNNL_ARG_SCALE, per_channel("weight")},
                   {DNNL_ARG_SHIFT, per_channel("bias")},
                   {DNNL_ARG_DST, result}});
  b.set_output(group.head, result);
}

}  // namespace graphline
