#include "stages/nn/host/recurrent_loops.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace graphline::test {

using namespace nn;

namespace {

struct recurrent_tensors {
  std::vector<float> x;
  std::vector<float> hidden;
  std::vector<float> cell;
  std::vector<float> weights;
  std::vector<float> vector;  ///< bias or peepholes
};

struct recurrent_result {
  std::vector<float> states;
  std::vector<float> hidden;
  std::vector<float> cell;
};

struct recurrent_shape {
  std::int64_t steps;
  std::int64_t batch;
};

recurrent_tensors draw(const recurrent_layer& layer, const recurrent_shape& s) {
  std::mt19937 random(1);
  const auto some = [&](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
    return values;
  };
  const std::int64_t state = layer.directions() * s.batch * layer.hidden;
  return {some(s.steps * state * layer.gates()), some(state), some(state),
          some(layer.directions() * layer.gates() * layer.hidden * layer.hidden),
          some(layer.directions() * 3 * layer.hidden)};
}

recurrent_result by_loops(const recurrent_layer& layer, const recurrent_shape& s,
                          const recurrent_tensors& given, const recurrent_code& code) {
  const recurrent_loops loops(layer, s.steps, s.batch, code);
  const std::vector<float> weights = loops.in_order(given.weights);
  std::vector<const float*> from{given.x.data(), given.hidden.data()};
  if (layer.cell == recurrent_cell::lstm) from.push_back(given.cell.data());
  from.insert(from.end(), {weights.data(), given.vector.data()});
  const std::size_t states = given.hidden.size();
  recurrent_result made{std::vector<float>(states * static_cast<std::size_t>(s.steps)),
                        std::vector<float>(states), std::vector<float>(states)};
  loops.run(from, std::vector{made.states.data(), made.hidden.data(), made.cell.data()});
  return made;
}

/// Computes one unit after the other by the formulas of ONNX, in double.
recurrent_result by_formulas(const recurrent_layer& layer, const recurrent_shape& s,
                             const recurrent_tensors& given) {
  const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
  const std::int64_t hidden = layer.hidden;
  const std::int64_t directions = layer.directions();
  recurrent_result made{std::vector<float>(given.hidden.size() * static_cast<std::size_t>(s.steps)),
                        given.hidden, given.cell};
  for (std::int64_t way = 0; way < directions; ++way) {
    const bool backward = layer.way == recurrent_layer::direction::backward || way == 1;
    for (std::int64_t row = 0; row < s.batch; ++row) {
      float* h = made.hidden.data() + (way * s.batch + row) * hidden;
      float* c = made.cell.data() + (way * s.batch + row) * hidden;
      for (std::int64_t step = 0; step < s.steps; ++step) {
        const std::int64_t at = backward ? s.steps - 1 - step : step;
        const std::int64_t place = (at * s.batch + row) * directions + way;
        const float* x = given.x.data() + place * layer.gates() * hidden;
        const auto product = [&](std::int64_t gate, std::int64_t unit, const auto* state) {
          const float* w =
              given.weights.data() + ((way * layer.gates() + gate) * hidden + unit) * hidden;
          double sum = 0;
          for (std::int64_t j = 0; j < hidden; ++j) sum += double{w[j]} * double{state[j]};
          return sum;
        };
        const std::vector<float> all_before(h, h + hidden);
        const float* before = all_before.data();
        const auto of_x = [&](std::int64_t gate, std::int64_t unit) {
          return double{x[gate * hidden + unit]};
        };
        const auto gate = [&](std::int64_t which, std::int64_t unit) {
          return of_x(which, unit) + product(which, unit, before);
        };
        std::vector<double> scaled;
        if (layer.cell == recurrent_cell::gru) {
          for (std::int64_t i = 0; i < hidden; ++i) {
            scaled.push_back(sigmoid(gate(1, i)) * double{before[i]});
          }
        }
        for (std::int64_t i = 0; i < hidden; ++i) {
          double state = 0;
          if (layer.cell == recurrent_cell::lstm) {
            const auto seen = [&](std::int64_t which, double cell) {
              const double weight = given.vector.data()[(way * 3 + which) * hidden + i];
              return layer.peepholes ? weight * cell : 0.0;
            };
            const double cell = sigmoid(gate(1, i) + seen(1, double{c[i]})) * double{c[i]} +
                                sigmoid(gate(0, i) + seen(0, double{c[i]})) * std::tanh(gate(2, i));
            c[i] = static_cast<float>(cell);
            state = sigmoid(gate(3, i) + seen(2, cell)) * std::tanh(cell);
          } else if (layer.cell == recurrent_cell::gru) {
            const double bias = given.vector.data()[way * hidden + i];
            const double seen = layer.reset_after
                                    ? sigmoid(gate(1, i)) * (product(2, i, before) + bias)
                                    : product(2, i, scaled.data());
            const double update = sigmoid(gate(0, i));
            state = (1 - update) * std::tanh(of_x(2, i) + seen) + update * double{before[i]};
          } else {
            state = layer.cell == recurrent_cell::tanh      ? std::tanh(gate(0, i))
                    : layer.cell == recurrent_cell::sigmoid ? sigmoid(gate(0, i))
                                                            : std::max(0.0, gate(0, i));
          }
          h[i] = static_cast<float>(state);
          made.states.data()[place * hidden + i] = h[i];
        }
      }
    }
  }
  return made;
}

void expect_close(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-5) << i;
}

TEST(recurrent_loops, compute_every_cell_with_all_instructions_and_numbers_of_threads) {
  using direction = recurrent_layer::direction;
  const recurrent_layer cells[] = {
      {.cell = recurrent_cell::lstm},    {.cell = recurrent_cell::lstm, .peepholes = true},
      {.cell = recurrent_cell::gru},     {.cell = recurrent_cell::gru, .reset_after = true},
      {.cell = recurrent_cell::tanh},    {.cell = recurrent_cell::relu},
      {.cell = recurrent_cell::sigmoid},
  };
  const int threads_before = omp_get_max_threads();
  for (recurrent_layer layer : cells) {
    // Blocks of 4, 8 and 16 units that are full and not, and enough work for several threads.
    for (const std::int64_t hidden : {1, 7, 16, 21, 104}) {
      for (const direction way : {direction::forward, direction::backward, direction::both}) {
        for (const recurrent_shape& s : {recurrent_shape{1, 1}, recurrent_shape{3, 7}}) {
          layer.hidden = hidden;
          layer.way = way;
          recurrent_tensors given = draw(layer, s);
          // Keep the sums of relu from growing.
          for (float& weight : given.weights) weight /= std::sqrt(static_cast<float>(hidden));
          const recurrent_result expected = by_formulas(layer, s, given);
          for (const recurrent_code& code : recurrent_codes()) {
            for (const int threads : {1, 3}) {
              SCOPED_TRACE(std::string(code.instructions) + ", cell " +
                           std::to_string(static_cast<int>(layer.cell)) + ", hidden " +
                           std::to_string(hidden) + ", batch " + std::to_string(s.batch));
              omp_set_num_threads(threads);
              const recurrent_result found = by_loops(layer, s, given, code);
              expect_close(found.states, expected.states);
              expect_close(found.hidden, expected.hidden);
              if (layer.cell == recurrent_cell::lstm) expect_close(found.cell, expected.cell);
            }
          }
        }
      }
    }
  }
  omp_set_num_threads(threads_before);
}

}  // namespace

}  // namespace graphline::test
