#include "stages/network/host/lowering.hpp"

namespace graphline {

void lower(program_builder& b, const fused_layers& group, const activation_layer& activation) {
  const network_layer& head = b.layer(group.head);
  const program_tensor source = b.input_of(head);
  const eltwise_form form = eltwise_of(activation.function);
  const dnnl::eltwise_forward::desc wanted(dnnl::prop_kind::forward_inference, form.algorithm,
                                           source.layout, form.alpha, form.beta);
  const dnnl::eltwise_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  b.add_layer<dnnl::eltwise_forward>(group.head, source, chosen);
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
  b.set_output(group.head, b.in_shape(b.input_of(head), b.output_shape(head), head));
}

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
  b.add_layer<normalization>(group.head, source, chosen,
                             {{DNNL_ARG_MEAN, b.vector_of(head, 3)},
                              {DNNL_ARG_VARIANCE, b.vector_of(head, 4)},
                              {DNNL_ARG_SCALE, b.vector_of(head, 1)},
                              {DNNL_ARG_SHIFT, b.vector_of(head, 2)}});
}

void lower(program_builder& b, const fused_layers& group, const layer_norm_layer& norm) {
  using normalization = dnnl::layer_normalization_forward;
  const network_layer& head = b.layer(group.head);
  const shape rows = as_rows(b.output_shape(head));
  const program_tensor source =
      b.in_layout(b.in_shape(b.input_of(head), rows, head), plain_layout(rows), head);
  const normalization::desc wanted(
      dnnl::prop_kind::forward_inference, source.layout, static_cast<float>(norm.eps),
      dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift);
  const normalization::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  b.add_layer<normalization>(
      group.head, source, chosen,
      {{DNNL_ARG_SCALE, b.vector_of(head, 1)}, {DNNL_ARG_SHIFT, b.vector_of(head, 2)}});
}

void lower(program_builder& b, const fused_layers& group, const softmax_layer& softmax) {
  const network_layer& head = b.layer(group.head);
  const auto rank = static_cast<std::int64_t>(b.output_shape(head).rank());
  const auto axis = static_cast<int>(softmax.dim < 0 ? softmax.dim + rank : softmax.dim);
  // oneDNN's fast softmax wants a packed tensor; on blocked ones it falls back to its reference.
  const program_tensor source =
      b.in_layout(b.input_of(head), plain_layout(b.output_shape(head)), head);
  const dnnl::softmax_forward::desc wanted(dnnl::prop_kind::forward_inference, source.layout, axis);
  const dnnl::softmax_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  b.add_layer<dnnl::softmax_forward>(group.head, source, chosen);
}

}  // namespace graphline
