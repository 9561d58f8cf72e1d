#include <fmt/format.h>

#include <numeric>

#include "stages/nn/cuda/lowering/lowering.hpp"

namespace graphline::nn {
namespace {

/// Rows of the hidden state in a buffer; `begin` and `pitch` are in elements.
struct hidden_rows {
  std::size_t buffer = 0;
  std::int64_t begin = 0;
  std::int64_t pitch = 0;
};

/// One direction of an LSTM. Computes the products of x for all steps at once, and the product of
/// the hidden state at each step.
class lstm_direction {
 public:
  lstm_direction(cuda_lowering& b, const network_layer& head, std::int64_t number)
      : b_(b), head_(head), number_(number) {
    const shape& x = b.input_shape(head);
    const shape& state = b.network().shape_of(head.inputs[1]);
    steps_ = x[0];
    batch_ = x[1];
    features_ = x[2];
    directions_ = state[0];
    hidden_ = state[2];
  }

  /// `result` contains the hidden states of all directions, and `cells` their cell states.
  void lower(bool backward, const cuda_value& result, const cuda_value& cells,
             const cuda_value& last_hidden) {
    const value_form form{tensor_layout::row_major, b_.element()};
    const std::int64_t gates = 4 * hidden_;
    const cuda_value of_x = b_.make_value(steps_ * batch_ * gates, form);
    const cuda_value of_hidden = b_.make_value(batch_ * gates, form);
    b_.add_calls(
        plan(steps_ * batch_, features_, features_),
        {{b_.in_form(head_.inputs[0], form, head_).buffer, weights(3, b_.element()), of_x.buffer}},
        head_);
    const std::size_t weight = weights(4, b_.element());
    const std::size_t bias = weights(5, dtype::float32);
    const std::shared_ptr<library_operation> first = plan(batch_, hidden_, hidden_);
    const std::shared_ptr<library_operation> later =
        directions_ == 1 ? first : plan(batch_, hidden_, directions_ * hidden_);
    const std::int64_t state = number_ * batch_ * hidden_;
    hidden_rows before{b_.in_form(head_.inputs[1], form, head_).buffer, state, hidden_};
    const cuda_value cell_before = b_.plain_input_of(head_, 2);
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t step = backward ? steps_ - 1 - i : i;
      const hidden_rows after{result.buffer, (step * batch_ * directions_ + number_) * hidden_,
                              directions_ * hidden_};
      b_.add_call(i == 0 ? first : later,
                  {at(before.buffer, before.begin, form.element), weight, of_hidden.buffer}, head_);
      const cuda_value& cell = i == 0 ? cell_before : cells;
      b_.add_kernel(
          lstm_form{.element = form.element,
                    .cell_before = cell.form.element,
                    .batch = batch_,
                    .hidden = hidden_,
                    .pitch = after.pitch},
          {at(of_x.buffer, step * batch_ * gates, form.element), of_hidden.buffer, bias,
           at(cell.buffer, state, cell.form.element), at(cells.buffer, state, cells.form.element),
           at(after.buffer, after.begin, form.element)},
          head_);
      before = after;
    }
    b_.note(
        fmt::format("for each of {} steps {} and a kernel of its own", steps_, later->choice()));
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

  /// Plans the product of rows that are `pitch` elements apart with the weights of all gates.
  std::unique_ptr<library_operation> plan(std::int64_t rows, std::int64_t inner,
                                          std::int64_t pitch) {
    const std::size_t row_bytes = static_cast<std::size_t>(inner) * size_of(b_.element());
    const std::size_t aligned = std::gcd(std::size_t{16}, row_bytes);
    const product_form form{.m = rows,
                            .n = 4 * hidden_,
                            .k = inner,
                            .transpose_b = true,
                            .a_leading = pitch,
                            .b_leading = inner,
                            .d_leading = 4 * hidden_,
                            .precision = b_.precision(),
                            .alignment = {aligned, aligned, aligned}};
    std::string why_not;
    auto operation = b_.library().plan(form, why_not);
    if (operation == nullptr) b_.refuse(head_, why_not);
    return operation;
  }

  cuda_lowering& b_;
  const network_layer& head_;
  std::int64_t number_;
  std::int64_t steps_;
  std::int64_t batch_;
  std::int64_t features_;
  std::int64_t directions_;
  std::int64_t hidden_;
};

}  // namespace

void lower(cuda_lowering& b, const layer_group& group, const lstm_layer& lstm) {
  const network_layer& head = b.layer(group.head);
  const std::int64_t state = b.network().shape_of(head.inputs[1]).elements();
  const value_form form{tensor_layout::row_major, b.element()};
  const cuda_value result = b.make_value(b.output_shape(head).elements(), form);
  const cuda_value last_hidden = b.make_value(state, form);
  const cuda_value cells = b.make_value(state, {});
  const std::int64_t directions = b.network().shape_of(head.inputs[1])[0];
  for (std::int64_t i = 0; i < directions; ++i) {
    const bool backward = lstm.way == lstm_layer::direction::backward || i == 1;
    lstm_direction(b, head, i).lower(backward, result, cells, last_hidden);
  }
  b.set_output(group.head, result);
  b.set_value(head.outputs[1], last_hidden);
  b.set_value(head.outputs[2], cells);
}

}  // namespace graphline::nn
