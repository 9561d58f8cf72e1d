#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "stages/nn/cuda/lowering/lowering.hpp"

namespace graphline::nn {
namespace {

/// Rows of the hidden state in a buffer; `begin` and `pitch` are in elements.
struct hidden_rows {
  std::size_t buffer = 0;
  std::int64_t begin = 0;
  std::int64_t pitch = 0;
};

cuda_operand at(std::size_t buffer, std::int64_t begin, dtype element) {
  return {buffer, static_cast<std::size_t>(begin) * size_of(element)};
}

/// Lowers direction `number` of a recurrent layer. `result` receives the hidden states of
/// all directions; `cells` receives the cell states of an LSTM.
void lower_direction(cuda_lowering& b, const network_layer& head, const recurrent_layer& recurrent,
                     std::int64_t number, const cuda_value& result, const cuda_value& cells,
                     const cuda_value& last_hidden) {
  const std::int64_t steps = b.input_shape(head)[0];
  const std::int64_t batch = b.input_shape(head)[1];
  const std::int64_t directions = recurrent.directions();
  const std::int64_t hidden = recurrent.hidden;
  const bool backward = recurrent.way == recurrent_layer::direction::backward || number == 1;
  const value_form form{tensor_layout::row_major, b.element()};
  const std::int64_t gates = recurrent.gates() * hidden;
  const std::int64_t state = number * batch * hidden;
  const bool is_lstm = recurrent.cell == recurrent_cell::lstm;
  const bool is_gru = recurrent.cell == recurrent_cell::gru;
  // A GRU without `reset_after` multiplies the weights of its last gate by another vector.
  const bool resets = is_gru && !recurrent.reset_after;
  const std::int64_t first_gates = resets ? 2 * hidden : gates;
  // Adds this direction's part of a weight as a constant.
  const auto weights = [&](std::size_t input, dtype element) {
    const std::span<const float> all = b.weights().of(head, input);
    const std::size_t count = all.size() / static_cast<std::size_t>(directions);
    const auto own = all.subspan(static_cast<std::size_t>(number) * count, count);
    return b.constant({own.begin(), own.end()}, element);
  };
  // Plans the product of hidden states that are `pitch` elements apart with the weights of gates.
  const auto plan = [&](std::int64_t columns, std::int64_t pitch) {
    const std::size_t row_bytes = static_cast<std::size_t>(hidden) * size_of(form.element);
    const std::size_t aligned = std::gcd(std::size_t{16}, row_bytes);
    return b.plan({.m = batch,
                   .n = columns,
                   .k = hidden,
                   .transpose_b = true,
                   .a_leading = pitch,
                   .b_leading = hidden,
                   .d_leading = gates,
                   .precision = b.precision(),
                   .alignment = {aligned, aligned, aligned}},
                  head);
  };
  const cuda_value of_x = b.in_form(head.inputs[0], form, head);
  const cuda_value of_hidden = b.make_value(batch * gates, form);
  const std::size_t first_weight = is_lstm ? 3 : 2;  // among the inputs
  const std::size_t weight = weights(first_weight, form.element);
  const std::shared_ptr<library_operation> first = plan(first_gates, hidden);
  const std::shared_ptr<library_operation> later =
      directions == 1 ? first : plan(first_gates, directions * hidden);
  std::shared_ptr<library_operation> last_gate;
  cuda_value scaled;
  if (resets) {
    last_gate = plan(hidden, hidden);
    scaled = b.make_value(batch * hidden, form);
  }
  cuda_value cell_before;
  std::optional<std::size_t> vector;  // the bias or the peepholes
  if (is_lstm) cell_before = b.plain_input_of(head, 2);
  if (recurrent.reset_after || recurrent.peepholes) {
    vector = weights(first_weight + 1, dtype::float32);
  }
  hidden_rows before{b.in_form(head.inputs[1], form, head).buffer, state, hidden};
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t step = backward ? steps - 1 - i : i;
    const hidden_rows after{result.buffer, (step * batch * directions + number) * hidden,
                            directions * hidden};
    const cuda_operand hidden_before = at(before.buffer, before.begin, form.element);
    const cuda_operand step_of_x =
        at(of_x.buffer, (step * batch * directions + number) * gates, form.element);
    b.add_call(i == 0 ? first : later, {hidden_before, weight, of_hidden.buffer}, head);
    recurrent_form cells_of_step{.layer = recurrent,
                                 .resets = resets,
                                 .element = form.element,
                                 .batch = batch,
                                 .pitch_x = directions * gates,
                                 .pitch_before = before.pitch,
                                 .pitch = hidden};
    if (resets) {
      b.add_kernel(cells_of_step, {step_of_x, of_hidden.buffer, scaled.buffer, hidden_before},
                   head);
      b.add_call(last_gate,
                 {scaled.buffer, at(weight, first_gates * hidden, form.element),
                  at(of_hidden.buffer, first_gates, form.element)},
                 head);
      cells_of_step.resets = false;
    }
    cells_of_step.pitch = after.pitch;
    std::vector<cuda_operand> operands{step_of_x, of_hidden.buffer,
                                       at(after.buffer, after.begin, form.element)};
    if (is_gru) operands.push_back(hidden_before);
    if (is_lstm) {
      const cuda_value& cell = i == 0 ? cell_before : cells;
      cells_of_step.cell_before = cell.form.element;
      operands.push_back(at(cell.buffer, state, cell.form.element));
      operands.push_back(at(cells.buffer, state, cells.form.element));
    }
    if (vector) operands.push_back(*vector);
    b.add_kernel(std::move(cells_of_step), std::move(operands), head);
    before = after;
  }
  b.note(fmt::format("for each of {} steps {} and {}", steps,
                     (resets ? "twice " : "") + later->choice(),
                     resets ? "two kernels of its own" : "a kernel of its own"));
  add_copy(b, head, {batch, hidden}, {before.buffer, form}, {before.begin, {before.pitch, 1}},
           last_hidden, {state, {hidden, 1}});
}

}  // namespace

void lower(cuda_lowering& b, const layer_group& group, const recurrent_layer& recurrent) {
  const network_layer& head = b.layer(group.head);
  const std::int64_t state = b.network().shape_of(head.inputs[1]).elements();
  const value_form form{tensor_layout::row_major, b.element()};
  const cuda_value result = b.make_value(b.output_shape(head).elements(), form);
  const cuda_value last_hidden = b.make_value(state, form);
  cuda_value cells;
  if (recurrent.cell == recurrent_cell::lstm) cells = b.make_value(state, {});
  for (std::int64_t i = 0; i < recurrent.directions(); ++i) {
    lower_direction(b, head, recurrent, i, result, cells, last_hidden);
  }
  b.set_output(group.head, result);
  b.set_value(head.outputs[1], last_hidden);
  if (recurrent.cell == recurrent_cell::lstm) b.set_value(head.outputs[2], cells);
}

}  // namespace graphline::nn
