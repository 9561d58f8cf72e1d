#include "stages/nn/host/lowering.hpp"

namespace graphline::nn {
namespace {

dnnl::rnn_direction direction_of(const recurrent_layer& recurrent) {
  switch (recurrent.way) {
    case recurrent_layer::direction::forward:
      return dnnl::rnn_direction::unidirectional_left2right;
    case recurrent_layer::direction::backward:
      return dnnl::rnn_direction::unidirectional_right2left;
    default:
      return dnnl::rnn_direction::bidirectional_concat;
  }
}

/// Adds the primitive that a descriptor describes.
template <class Primitive>
void add_cells(host_lowering& b, const layer_group& group, const recurrent_layer& recurrent,
               const typename Primitive::desc& wanted) {
  const network_layer& head = b.layer(group.head);
  const typename Primitive::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
  const bool has_cells = recurrent.cell == recurrent_cell::lstm;
  const std::size_t weights = has_cells ? 3 : 2;  // the first weight among the inputs
  /// The network stores weights per gate, with one row per hidden unit.
  const auto weight = [&](std::size_t input, const dnnl::memory::desc& to) {
    const auto extents = to.dims();
    const std::int64_t columns = extents[2];
    const std::int64_t gate = recurrent.hidden * columns;
    const dnnl::memory::desc given(
        extents, dnnl::memory::data_type::f32,
        {extents[1] * extents[3] * gate, extents[3] * gate, 1, gate, columns});
    const std::span<const float> values = b.weights().of(head, input);
    return b.constant({values.begin(), values.end()}, given, to);
  };
  const auto vector = [&](std::size_t input, const dnnl::memory::desc& layout) {
    return b.constant(b.weights().of(head, input), shape(layout.dims()));
  };
  const auto state_before = [&](std::size_t input) {
    return host_value{b.plain_input_of(head, input).buffer, chosen.src_iter_desc()};
  };
  const host_value result = b.make_tensor(chosen.dst_layer_desc());
  const host_value last_hidden = b.make_tensor(chosen.dst_iter_desc());
  const host_value last_cell = b.make_tensor(chosen.dst_iter_desc());
  std::vector<host_operand> operands{
      {DNNL_ARG_SRC_LAYER, b.plain_input_of(head)},
      {DNNL_ARG_SRC_ITER, state_before(1)},
      {DNNL_ARG_WEIGHTS_LAYER, weight(weights, chosen.weights_layer_desc())},
      {DNNL_ARG_WEIGHTS_ITER, weight(weights + 1, chosen.weights_iter_desc())},
      {DNNL_ARG_BIAS, vector(weights + 2, chosen.bias_desc())},
      {DNNL_ARG_DST_LAYER, result},
      {DNNL_ARG_DST_ITER, last_hidden}};
  if (has_cells) {
    operands.push_back({DNNL_ARG_SRC_ITER_C, state_before(2)});
    operands.push_back({DNNL_ARG_DST_ITER_C, last_cell});
  }
  if (recurrent.peepholes) {
    operands.push_back(
        {DNNL_ARG_WEIGHTS_PEEPHOLE, vector(weights + 3, chosen.weights_peephole_desc())});
  }
  b.add_primitive<Primitive>(head.kind, head, chosen, std::move(operands));
  const dnnl::memory::desc state = plain_layout(b.network().shape_of(head.inputs[1]));
  b.set_output(group.head, result);
  b.set_value(head.outputs[1], {last_hidden.buffer, state});
  if (has_cells) b.set_value(head.outputs[2], {last_cell.buffer, state});
}

}  // namespace

void lower(host_lowering& b, const layer_group& group, const recurrent_layer& recurrent) {
  const network_layer& head = b.layer(group.head);
  const shape& x = b.input_shape(head);
  const std::int64_t directions = recurrent.directions();
  const std::int64_t hidden = recurrent.hidden;
  // oneDNN's first dimension is the number of stacked layers.
  const auto in = plain_layout(x);
  const auto out = plain_layout(b.output_shape(head));
  const auto state = plain_layout({1, directions, x[1], hidden});
  const auto weight_ih = any_layout({1, directions, x[2], recurrent.gates(), hidden});
  const auto weight_hh = any_layout({1, directions, hidden, recurrent.gates(), hidden});
  const auto bias = plain_layout({1, directions, recurrent.biases(), hidden});
  const auto kind = dnnl::prop_kind::forward_inference;
  const dnnl::rnn_direction way = direction_of(recurrent);
  const auto add_function = [&](dnnl::algorithm function) {
    add_cells<dnnl::vanilla_rnn_forward>(
        b, group, recurrent,
        {kind, function, way, in, state, weight_ih, weight_hh, bias, out, state});
  };
  switch (recurrent.cell) {
    case recurrent_cell::tanh:
      return add_function(dnnl::algorithm::eltwise_tanh);
    case recurrent_cell::relu:
      return add_function(dnnl::algorithm::eltwise_relu);
    case recurrent_cell::sigmoid:
      return add_function(dnnl::algorithm::eltwise_logistic);
    case recurrent_cell::gru:
      if (recurrent.reset_after) {
        return add_cells<dnnl::lbr_gru_forward>(
            b, group, recurrent, {kind, way, in, state, weight_ih, weight_hh, bias, out, state});
      }
      return add_cells<dnnl::gru_forward>(
          b, group, recurrent, {kind, way, in, state, weight_ih, weight_hh, bias, out, state});
    case recurrent_cell::lstm: {
      dnnl::memory::desc peepholes;  // none
      if (recurrent.peepholes) peepholes = plain_layout({1, directions, 3, hidden});
      return add_cells<dnnl::lstm_forward>(
          b, group, recurrent,
          {kind, way, in, state, state, weight_ih, weight_hh, peepholes, bias, out, state, state});
    }
  }
}

}  // namespace graphline::nn
