#include "stages/network/host/lowering.hpp"

namespace graphline {

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
  b.add_primitive(head.kind, head, normalization(chosen), chosen, chosen.scratchpad_desc(),
                  {{DNNL_ARG_SRC, source},
                   {DNNL_ARG_SCALE, per_feature("weight")},
                   {DNNL_ARG_SHIFT, per_feature("bias")},
                   {DNNL_ARG_DST, result}});
  b.set_output(group.head, b.in_shape(result, head.output, head));
}

}  // namespace graphline
