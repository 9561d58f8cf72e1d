#include <fmt/format.h>

#include <cmath>

#include "stages/nn/layers/layers.hpp"

namespace graphline::nn {

layer_shape infer(const lstm_layer& lstm, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const shape& x = inputs[0].shape;
  const std::int64_t directions = lstm.way == lstm_layer::direction::both ? 2 : 1;
  if (x.rank() != 3) {
    problems.report(fmt::format("expects [steps, batch, features] but {} gives {}", inputs[0].giver,
                                to_string(x)));
    return {};
  }
  const shape state{directions, x[1], lstm.hidden};
  for (const layer_input& given : inputs.subspan(1)) {
    if (given.shape == state) continue;
    problems.report(fmt::format("expects states of {} but {} gives {}", to_string(state),
                                given.giver, to_string(given.shape)));
    return {};
  }
  const std::int64_t gates = 4 * lstm.hidden;
  const initial_value initial{initial_value::rule::uniform,
                              1.0 / std::sqrt(static_cast<double>(lstm.hidden))};
  layer_shape result{.output = {x[0], x[1], directions * lstm.hidden},
                     .further = {state, state},
                     .weights = {{"weight_ih", {directions, gates, x[2]}, initial},
                                 {"weight_hh", {directions, gates, lstm.hidden}, initial},
                                 {"bias", {directions, gates}, initial}}};
  const std::int64_t macs = count_of({count_of(result.output), 4, x[2] + lstm.hidden});
  // Per output: four bias additions, 3 sigmoids, 2 tanh, f * c + i * g and o * tanh(c).
  result.cost = {.macs = macs,
                 .flops = 2 * macs + count_of({count_of(result.output), 4 + 3 * 4 + 2 + 3 + 1})};
  return result;
}

}  // namespace graphline::nn
