#include "stages/nn/host/lowering.hpp"

namespace graphline::nn {

void lower(host_lowering& b, const layer_group& group, const lstm_layer& lstm) {
  const network_layer& head = b.layer(group.head);
  const shape& x = b.input_shape(head);
  const shape& state = b.network().shape_of(head.inputs[1]);
  const std::int64_t directions = state[0];
  const std::int64_t hidden = lstm.hidden;
  const std::int64_t features = x[2];
  // oneDNN's first dimension is the number of stacked layers.
  const dnnl::memory::desc state_layout = plain_layout({1, directions, state[1], hidden});
  const shape weight_extents{1, directions, features, 4, hidden};
  const shape iter_extents{1, directions, hidden, 4, hidden};
  const shape bias_extents{1, directions, 4, hidden};
  const auto way = [&] {
    switch (lstm.way) {
      case lstm_layer::direction::forward:
        return dnnl::rnn_direction::unidirectional_left2right;
      case lstm_layer::direction::backward:
        return dnnl::rnn_direction::unidirectional_right2left;
      default:
        return dnnl::rnn_direction::bidirectional_concat;
    }
  }();
  const dnnl::lstm_forward::desc wanted(
      dnnl::prop_kind::forward_inference, way, plain_layout(x), state_layout, state_layout,
      any_layout(weight_extents), any_layout(iter_extents), plain_layout(bias_extents),
      plain_layout(b.output_shape(head)), state_layout, state_layout);
  const dnnl::lstm_forward::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());

  /// The network stores weights per gate, with one row per hidden unit.
  const auto weight = [&](std::size_t input, const shape& extents, const dnnl::memory::desc& to) {
    const std::int64_t columns = extents[2];
    const dnnl::memory::desc given(
        extents.extents(), dnnl::memory::data_type::f32,
        {directions * 4 * hidden * columns, 4 * hidden * columns, 1, hidden * columns, columns});
    const std::span<const float> values = b.weights().of(head, input);
    return b.constant({values.begin(), values.end()}, given, to);
  };
  const auto state_before = [&](std::size_t input) {
    return host_value{b.plain_input_of(head, input).buffer, state_layout};
  };
  const host_value result = b.make_tensor(chosen.dst_layer_desc());
  const host_value last_hidden = b.make_tensor(state_layout);
  const host_value last_cell = b.make_tensor(state_layout);
  b.add_primitive<dnnl::lstm_forward>(
      "lstm", head, chosen,
      {{DNNL_ARG_SRC_LAYER, b.plain_input_of(head)},
       {DNNL_ARG_SRC_ITER, state_before(1)},
       {DNNL_ARG_SRC_ITER_C, state_before(2)},
       {DNNL_ARG_WEIGHTS_LAYER, weight(3, weight_extents, chosen.weights_layer_desc())},
       {DNNL_ARG_WEIGHTS_ITER, weight(4, iter_extents, chosen.weights_iter_desc())},
       {DNNL_ARG_BIAS, b.constant(b.weights().of(head, 5), bias_extents)},
       {DNNL_ARG_DST_LAYER, result},
       {DNNL_ARG_DST_ITER, last_hidden},
       {DNNL_ARG_DST_ITER_C, last_cell}});
  b.set_output(group.head, result);
  b.set_value(head.outputs[1], {last_hidden.buffer, plain_layout(state)});
  b.set_value(head.outputs[2], {last_cell.buffer, plain_layout(state)});
}

}  // namespace graphline::nn
