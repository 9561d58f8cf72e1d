#pragma once

#include <cmath>
#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Each item is a hidden unit of one row.
struct recurrent_units {
  const void* of_x;
  const void* of_hidden;
  void* to;
  const void* hidden_before;
  const float* bias;
  const void* cell_before;
  float* cell;
  const float* peepholes;
  std::int64_t gates;
  recurrent_form form;

  GRAPHLINE_HOST_DEVICE static float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    const recurrent_cell kind = form.layer.cell;
    const std::int64_t hidden = form.layer.hidden;
    std::int64_t row = item;
    const std::int64_t number = take_digit(row, hidden);
    const auto of_gate = [&](const void* from, std::int64_t pitch, std::int64_t which) {
      return load_as(form.element, from, row * pitch + which * hidden + number);
    };
    const auto x_gate = [&](std::int64_t which) { return of_gate(of_x, form.pitch_x, which); };
    const auto product = [&](std::int64_t which) {
      return of_gate(of_hidden, gates * hidden, which);
    };
    const auto gate = [&](std::int64_t which) { return x_gate(which) + product(which); };
    float state = 0;
    if (kind == recurrent_cell::lstm) {
      const float before = load_as(form.cell_before, cell_before, item);
      const auto seen = [&](std::int64_t which, float of) {
        return peepholes == nullptr ? 0.0F : peepholes[which * hidden + number] * of;
      };
      const float kept = sigmoid(gate(1) + seen(1, before)) * before;
      const float now = kept + sigmoid(gate(0) + seen(0, before)) * tanhf(gate(2));
      cell[item] = now;
      state = sigmoid(gate(3) + seen(2, now)) * tanhf(now);
    } else if (kind == recurrent_cell::gru) {
      const float before = load_as(form.element, hidden_before, row * form.pitch_before + number);
      if (form.resets) {
        state = sigmoid(gate(1)) * before;
      } else {
        const float seen =
            form.layer.reset_after ? sigmoid(gate(1)) * (product(2) + bias[number]) : product(2);
        const float update = sigmoid(gate(0));
        state = (1.0F - update) * tanhf(x_gate(2) + seen) + update * before;
      }
    } else {
      const float sum = gate(0);
      state = kind == recurrent_cell::tanh   ? tanhf(sum)
              : kind == recurrent_cell::relu ? (sum < 0.0F ? 0.0F : sum)
                                             : sigmoid(sum);
    }
    store_as(form.element, to, row * form.pitch + number, state);
  }
};

template <class Launcher>
void run(const recurrent_form& form, std::span<void* const> operands, const Launcher& launch) {
  const recurrent_layer& layer = form.layer;
  const bool is_lstm = layer.cell == recurrent_cell::lstm;
  const auto operand = [&](bool has, std::size_t i) { return has ? operands[i] : nullptr; };
  launch.items(
      recurrent_units{operands[0], operands[1], operands[2],
                      operand(layer.cell == recurrent_cell::gru, 3),
                      static_cast<const float*>(operand(layer.reset_after, 4)), operand(is_lstm, 3),
                      static_cast<float*>(operand(is_lstm, 4)),
                      static_cast<const float*>(operand(layer.peepholes, 5)), layer.gates(), form},
      form.batch * layer.hidden);
}

}  // namespace graphline::nn
