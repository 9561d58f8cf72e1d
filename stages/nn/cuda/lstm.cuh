#pragma once

#include <cmath>
#include <span>

#include "stages/nn/cuda/elements.cuh"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::nn {

/// Each item is a hidden unit of one row.
struct lstm_cells {
  const void* of_x;
  const void* of_hidden;
  const float* bias;
  const void* cell_before;
  float* cell;
  void* to;
  dtype element;
  dtype read_cell;
  std::int64_t hidden;
  std::int64_t pitch;

  GRAPHLINE_HOST_DEVICE void operator()(std::int64_t item) const {
    std::int64_t row = item;
    const std::int64_t number = take_digit(row, hidden);
    const auto gate = [&](std::int64_t which) {
      const std::int64_t at = (row * 4 + which) * hidden + number;
      return load_as(element, of_x, at) + load_as(element, of_hidden, at) +
             bias[which * hidden + number];
    };
    const auto sigmoid = [](float x) { return 1.0F / (1.0F + expf(-x)); };
    const float kept = sigmoid(gate(1)) * load_as(read_cell, cell_before, item);
    const float state = kept + sigmoid(gate(0)) * tanhf(gate(2));
    cell[item] = state;
    store_as(element, to, row * pitch + number, sigmoid(gate(3)) * tanhf(state));
  }
};

template <class Launcher>
void run(const lstm_form& form, std::span<void* const> operands, const Launcher& launch) {
  launch.items(lstm_cells{operands[0], operands[1], static_cast<const float*>(operands[2]),
                          operands[3], static_cast<float*>(operands[4]), operands[5], form.element,
                          form.cell_before, form.hidden, form.pitch},
               form.batch * form.hidden);
}

}  // namespace graphline::nn
