#include "stages/network/host/lowering.hpp"

namespace graphline {

void lower(program_builder& b, const fused_layers& group, const softmax_layer& softmax) {
  const network_layer& head = b.layer(group.head);
  const auto rank = static_cast<std::int64_t>(head.output.rank());
  const auto axis = static_cast<int>(softmax.dim < 0 ? softmax.dim + rank : softmax.dim);
  // oneDNN's fast softmax wants a packed tensor; on blocked ones it falls back to its reference.
  const program_tensor source = b.in_layout(b.input_of(head), plain_layout(head.output), head);
  const dnnl::softmax_forward::desc wanted(dnnl::prop_kind::forward_inference, source.layout, axis);
  const dnnl::softmax_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  const program_tensor result = b.make_tensor(chosen.dst_desc());
  b.add_primitive(head.kind, head, dnnl::softmax_forward(chosen), chosen, chosen.scratchpad_desc(),
                  {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}});
  b.set_output(group.head, result);
}

}  // namespace graphline
