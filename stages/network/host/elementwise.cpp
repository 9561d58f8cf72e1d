#include "stages/network/host/lowering.hpp"

namespace graphline {

void lower(program_builder& b, const fused_layers& group, const activation_layer& activation) {
  const network_layer& head = b.layer(group.head);
  const program_tensor source = b.input_of(head);
  const eltwise_form form = eltwise_of(activation.function);
  const dnnl::eltwise_forward::desc wanted(dnnl::prop_kind::forward_inference, form.algorithm,
                                           source.layout, form.alpha, form.beta);
  const dnnl::eltwise_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  const program_tensor result = b.make_tensor(chosen.dst_desc());
  b.add_primitive<dnnl::eltwise_forward>(head.kind, head, chosen,
                                         {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}});
  b.set_output(group.head, result);
}

void lower(program_builder& b, const fused_layers& group, const add_layer&) {
  const network_layer& head = b.layer(group.head);
  const split_epilogue epilogue = split_at_add(b.network(), group);
  const program_tensor first = b.input_of(head, 0);
  const program_tensor second = b.in_layout(b.input_of(head, 1), first.layout, head);
  const dnnl::binary::desc wanted(dnnl::algorithm::binary_add, first.layout, second.layout,
                                  first.layout);
  const dnnl::binary::primitive_desc chosen(wanted, fused_attributes(b, epilogue, nullptr),
                                            onednn_engine());
  const program_tensor result = b.make_tensor(chosen.dst_desc());
  b.add_primitive<dnnl::binary>(
      fused_name(b, group, /*bias=*/false, epilogue, /*with_add=*/false), head, chosen,
      {{DNNL_ARG_SRC_0, first}, {DNNL_ARG_SRC_1, second}, {DNNL_ARG_DST, result}});
  b.set_output(group.last(), result);
}

/// No work beyond bringing the elements in order: the same buffer, seen in another shape.
void lower(program_builder& b, const fused_layers& group, const flatten_layer&) {
  const network_layer& head = b.layer(group.head);
  b.set_output(group.head, b.in_shape(b.input_of(head), head.output, head));
}

}  // namespace graphline
