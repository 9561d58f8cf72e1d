#include "stages/nn/host/lowering.hpp"

namespace graphline::nn {

void lower(host_lowering& b, const layer_group& group, const layer_norm_layer& norm) {
  using normalization = dnnl::layer_normalization_forward;
  const network_layer& head = b.layer(group.head);
  const shape rows = as_rows(b.output_shape(head));
  const host_value source =
      b.in_layout(b.in_shape(b.input_of(head), rows, head), plain_layout(rows), head);
  const normalization::desc wanted(
      dnnl::prop_kind::forward_inference, source.layout, static_cast<float>(norm.eps),
      dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift);
  const normalization::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  b.add_layer<normalization>(
      group.head, source, chosen,
      {{DNNL_ARG_SCALE, b.vector_of(head, 1)}, {DNNL_ARG_SHIFT, b.vector_of(head, 2)}});
}

void lower(host_lowering& b, const layer_group& group, const softmax_layer& softmax) {
  const network_layer& head = b.layer(group.head);
  const auto rank = static_cast<std::int64_t>(b.output_shape(head).rank());
  const auto axis = static_cast<int>(softmax.dim < 0 ? softmax.dim + rank : softmax.dim);
  // oneDNN's fast softmax requires the dimension to be innermost; its reference code handles other
  // layouts.
  const shape& extents = b.output_shape(head);
  dnnl::memory::dims strides = packed_strides(extents);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (static_cast<int>(i) < axis) continue;
    strides[i] =
        static_cast<int>(i) == axis ? 1 : strides[i] * extents[static_cast<std::size_t>(axis)];
  }
  const dnnl::memory::desc innermost(extents.extents(), dnnl::memory::data_type::f32, strides);
  const host_value source = b.in_layout(b.input_of(head), innermost, head);
  const dnnl::softmax_forward::desc wanted(dnnl::prop_kind::forward_inference, source.layout, axis);
  const dnnl::softmax_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  b.add_layer<dnnl::softmax_forward>(group.head, source, chosen);
}

}  // namespace graphline::nn
