#include <cmath>

#include "stages/nn/layers/layers.hpp"

namespace graphline::nn {
namespace {

/// Returns the FLOPs of a step per hidden unit, apart from the products. A sigmoid counts as 4.
std::int64_t unit_flops(const recurrent_layer& of) {
  switch (of.cell) {
    case recurrent_cell::lstm:
      // Four sums with a bias, 3 sigmoids, 2 tanh, f * c + i * g and o * tanh(c).
      return 4 + 3 * 4 + 2 + 3 + 1 + (of.peepholes ? 3 * 2 : 0);
    case recurrent_cell::gru:
      // Sums with a bias, 2 sigmoids, a tanh, the reset gate, and (1 - z) * n + z * h.
      return of.biases() + 2 * 4 + 1 + (of.reset_after ? 2 : 1) + 4;
    case recurrent_cell::sigmoid:
      return 1 + 4;
    default:
      return 1 + 1;
  }
}

}  // namespace

layer_shape infer(const recurrent_layer& recurrent, layer_inputs inputs, layer_problems& problems) {
  const shape& x = inputs[0].shape;
  const std::int64_t directions = recurrent.directions();
  const std::int64_t hidden = recurrent.hidden;
  if (x.rank() != 3) {
    problems.refuse("expects [steps, batch, features] but {} gives {}", inputs[0].giver,
                    to_string(x));
  }
  const shape state{directions, x[1], hidden};
  for (const layer_input& given : inputs.subspan(1)) {
    if (given.shape == state) continue;
    problems.refuse("expects states of {} but {} gives {}", to_string(state), given.giver,
                    to_string(given.shape));
  }
  const std::int64_t gates = recurrent.gates() * hidden;
  const initial_value initial{initial_value::rule::uniform,
                              1.0 / std::sqrt(static_cast<double>(hidden))};
  layer_shape result{.output = {x[0], x[1], directions * hidden},
                     .further = std::vector(inputs.size() - 1, state),
                     .weights = {{"weight_ih", {directions, gates, x[2]}, initial},
                                 {"weight_hh", {directions, gates, hidden}, initial},
                                 {"bias", {directions, recurrent.biases() * hidden}, initial}}};
  if (recurrent.peepholes) {
    result.weights.push_back({"weight_peephole", {directions, 3 * hidden}, initial});
  }
  const std::int64_t units = count_of(result.output);
  const std::int64_t macs = count_of({units, recurrent.gates(), x[2] + hidden});
  result.cost = {.macs = macs, .flops = 2 * macs + count_of({units, unit_flops(recurrent)})};
  return result;
}

}  // namespace graphline::nn
