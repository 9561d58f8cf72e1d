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

/// One direction of a recurrent layer.
class recurrent_direction {
 public:
  recurrent_direction(cuda_lowering& b, const network_layer& head, const recurrent_layer& recurrent,
                      std::int64_t number)
      : b_(b), head_(head), recurrent_(recurrent), number_(number) {
    const shape& x = b.input_shape(head);
    steps_ = x[0];
    batch_ = x[1];
    directions_ = recurrent.directions();
    hidden_ = recurrent.hidden;
    weights_ = recurrent.cell == recurrent_cell::lstm ? 3 : 2;
  }

  /// `result` contains the hidden states of all directions, and `cells` the cell states of an LSTM.
  void lower(bool backward, const cuda_value& result, const cuda_value& cells,
             const cuda_value& last_hidden) {
    const value_form form{tensor_layout::row_major, b_.element()};
    const std::int64_t gates = recurrent_.gates() * hidden_;
    const std::int64_t state = number_ * batch_ * hidden_;
    const cuda_value of_x = b_.in_form(head_.inputs[0], form, head_);
    const cuda_value of_hidden = b_.make_value(batch_ * gates, form);
    const bool is_lstm = recurrent_.cell == recurrent_cell::lstm;
    const bool is_gru = recurrent_.cell == recurrent_cell::gru;
    // A GRU without `reset_after` multiplies the weights of its last gate by another vector.
    const bool resets = is_gru && !recurrent_.reset_after;
    const std::int64_t first_gates = resets ? 2 * hidden_ : gates;
    const std::size_t weight = weights(weights_, b_.element());
    const std::shared_ptr<library_operation> first = plan(batch_, first_gates, hidden_, hidden_);
    const std::shared_ptr<library_operation> later =
        directions_ == 1 ? first : plan(batch_, first_gates, hidden_, directions_ * hidden_);
    std::shared_ptr<library_operation> last_gate;
    cuda_value scaled;
    if (resets) {
      last_gate = plan(batch_, hidden_, hidden_, hidden_);
      scaled = b_.make_value(batch_ * hidden_, form);
    }
    cuda_value cell_before;
    std::optional<std::size_t> vector;  // the bias or the peepholes
    if (is_lstm) cell_before = b_.plain_input_of(head_, 2);
    if (recurrent_.reset_after || recurrent_.peepholes) {
      vector = weights(weights_ + 1, dtype::float32);
    }
    hidden_rows before{b_.in_form(head_.inputs[1], form, head_).buffer, state, hidden_};
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t step = backward ? steps_ - 1 - i : i;
      const hidden_rows after{result.buffer, (step * batch_ * directions_ + number_) * hidden_,
                              directions_ * hidden_};
      const cuda_operand hidden_before = at(before.buffer, before.begin, form.element);
      const cuda_operand step_of_x =
          at(of_x.buffer, (step * batch_ * directions_ + number_) * gates, form.element);
      b_.add_call(i == 0 ? first : later, {hidden_before, weight, of_hidden.buffer}, head_);
      recurrent_form cells_of_step{.layer = recurrent_,
                                   .resets = resets,
                                   .element = form.element,
                                   .batch = batch_,
                                   .pitch_x = directions_ * gates,
                                   .pitch_before = before.pitch,
                                   .pitch = hidden_};
      if (resets) {
        b_.add_kernel(cells_of_step, {step_of_x, of_hidden.buffer, scaled.buffer, hidden_before},
                      head_);
        b_.add_call(last_gate,
                    {scaled.buffer, at(weight, first_gates * hidden_, form.element),
                     at(of_hidden.buffer, first_gates, form.element)},
                    head_);
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
      b_.add_kernel(std::move(cells_of_step), std::move(operands), head_);
      before = after;
    }
    b_.note(fmt::format("for each of {} steps {} and {}", steps_,
                        (resets ? "twice " : "") + later->choice(),
                        resets ? "two kernels of its own" : "a kernel of its own"));
    add_copy(b_, head_, {batch_, hidden_}, {before.buffer, form}, {before.begin, {before.pitch, 1}},
             last_hidden, {state, {hidden_, 1}});
  }

 private:
  static cuda_operand at(std::size_t buffer, std::int64_t begin, dtype element) {
    return {buffer, static_cast<std::size_t>(begin) * size_of(element)};
  }

  /// Adds this direction's part of a weight as a constant.
  std::size_t weights(std::size_t input, dtype element) {
    const std::span<const float> all = b_.weights().of(head_, input);
    const std::size_t count = all.size() / static_cast<std::size_t>(directions_);
    const auto own = all.subspan(static_cast<std::size_t>(number_) * count, count);
    return b_.constant({own.begin(), own.end()}, element);
  }

  /// Plans the product of rows that are `pitch` elements apart with the weights of some gates.
  std::unique_ptr<library_operation> plan(std::int64_t rows, std::int64_t columns,
                                          std::int64_t inner, std::int64_t pitch) {
    const std::size_t row_bytes = static_cast<std::size_t>(inner) * size_of(b_.element());
    const std::size_t aligned = std::gcd(std::size_t{16}, row_bytes);
    const product_form form{.m = rows,
                            .n = columns,
                            .k = inner,
                            .transpose_b = true,
                            .a_leading = pitch,
                            .b_leading = inner,
                            .d_leading = recurrent_.gates() * hidden_,
                            .precision = b_.precision(),
                            .alignment = {aligned, aligned, aligned}};
    return b_.plan(form, head_);
  }

  cuda_lowering& b_;
  const network_layer& head_;
  const recurrent_layer& recurrent_;
  std::int64_t number_;
  std::int64_t steps_;
  std::int64_t batch_;
  std::int64_t directions_;
  std::int64_t hidden_;
  std::size_t weights_;  ///< the first weight among the inputs
};

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
    const bool backward = recurrent.way == recurrent_layer::direction::backward || i == 1;
    recurrent_direction(b, head, recurrent, i).lower(backward, result, cells, last_hidden);
  }
  b.set_output(group.head, result);
  b.set_value(head.outputs[1], last_hidden);
  if (recurrent.cell == recurrent_cell::lstm) b.set_value(head.outputs[2], cells);
}

}  // namespace graphline::nn
