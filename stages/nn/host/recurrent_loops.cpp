#include "stages/nn/host/recurrent_loops.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "stages/nn/host/vector_math.hpp"

namespace graphline::nn {

/// One direction of a layer at one step.
struct recurrent_step {
  const float* x = nullptr;          ///< gates of x, for each row of the batch
  const float* weights = nullptr;    ///< of the gates of this pass, in the order of the loops
  const float* bias = nullptr;       ///< GRU with `reset_after`
  const float* peepholes = nullptr;  ///< LSTM; null if it has none
  const float* before = nullptr;     ///< hidden states
  std::int64_t pitch_before = 0;     ///< between the rows of `before`
  float* after = nullptr;            ///< hidden states
  const float* cell_before = nullptr;
  float* cell = nullptr;
  float* scaled = nullptr;  ///< GRU without `reset_after`: hidden states times the reset gate
};

/// A GRU without `reset_after` takes two passes per step: its new gate needs the scaled hidden
/// states. The first pass leaves the update gate in `after`.
static bool takes_two_passes(const recurrent_layer& layer) {
  return layer.cell == recurrent_cell::gru && !layer.reset_after;
}

/// The work between two barriers.
struct recurrent_pass {
  const recurrent_layer& layer;
  std::int64_t batch;
  std::int64_t blocks;  ///< of hidden units, per direction
  bool resets;          ///< the first of two passes
  std::array<recurrent_step, 2> directions;

  std::int64_t gates() const {
    if (!takes_two_passes(layer)) return layer.gates();
    return resets ? 2 : 1;
  }
};

namespace {

/// Prefetch distance in the weights.
constexpr std::int64_t elements_ahead = 1024;

/// Adjacent hidden units of a row; the last block of a layer may have fewer than `width`.
template <int width>
struct unit_vectors {
  using lanes = typename pointwise_vectors<width>::lanes;
  using math = vector_math<lanes, typename pointwise_vectors<width>::bits>;

  std::int64_t count;

  // Functions take vectors by reference, because the ABI for values depends on the instruction set.
  GRAPHLINE_INLINE void load(const float* from, lanes& to) const {
    if (count >= width) {
      std::memcpy(&to, from, sizeof to);
      return;
    }
    std::array<float, width> some{};
    std::copy_n(from, count, some.begin());
    std::memcpy(&to, some.data(), sizeof to);
  }
  GRAPHLINE_INLINE void store(const lanes& from, float* to) const {
    if (count >= width) {
      std::memcpy(to, &from, sizeof from);
      return;
    }
    std::array<float, width> some;
    std::memcpy(some.data(), &from, sizeof from);
    std::copy_n(some.begin(), count, to);
  }

  static GRAPHLINE_INLINE void sigmoid(const lanes& x, lanes& to) {
    math::exp(-x, to);
    to = 1.0F / (1.0F + to);
  }
};

/// Computes new states of one row from the products of its hidden state and `gates` weights.
template <int width, int gates>
GRAPHLINE_INLINE void finish_row(const recurrent_pass& pass, const recurrent_step& step,
                                 std::int64_t first, std::int64_t row,
                                 typename unit_vectors<width>::lanes (&sums)[gates]) {
  using vectors = unit_vectors<width>;
  using lanes = typename vectors::lanes;
  const recurrent_layer& layer = pass.layer;
  const vectors units{layer.hidden - first};
  const std::int64_t directions = layer.directions();
  const float* x = step.x + row * directions * layer.gates() * layer.hidden + first;
  float* after = step.after + row * directions * layer.hidden + first;
  const std::int64_t own = row * layer.hidden + first;  // in the layer's states
  lanes of_x;
  lanes before;
  lanes result;
  const auto gate = [&](std::int64_t which, lanes & to) __attribute__((always_inline)) {
    units.load(x + which * layer.hidden, of_x);
    to += of_x;
  };
  if constexpr (gates == 4) {  // LSTM: input, forget, cell, output
    lanes cell;
    units.load(step.cell_before + own, before);
    for (int which = 0; which < 4; ++which) gate(which, sums[which]);
    const auto add_peephole = [&](std::int64_t which, const lanes& state, lanes& to)
        __attribute__((always_inline)) {
      if (step.peepholes == nullptr) return;
      lanes weight;
      units.load(step.peepholes + which * layer.hidden + first, weight);
      to += weight * state;
    };
    add_peephole(0, before, sums[0]);
    add_peephole(1, before, sums[1]);
    vectors::sigmoid(sums[0], sums[0]);
    vectors::sigmoid(sums[1], sums[1]);
    vectors::math::tanh(sums[2], sums[2]);
    cell = sums[1] * before + sums[0] * sums[2];
    units.store(cell, step.cell + own);
    add_peephole(2, cell, sums[3]);
    vectors::sigmoid(sums[3], sums[3]);
    vectors::math::tanh(cell, result);
    result *= sums[3];
  } else if constexpr (gates == 3) {  // GRU: update, reset, new
    lanes bias;
    units.load(step.bias + first, bias);
    units.load(step.before + row * step.pitch_before + first, before);
    gate(0, sums[0]);
    gate(1, sums[1]);
    vectors::sigmoid(sums[0], sums[0]);
    vectors::sigmoid(sums[1], sums[1]);
    sums[2] = (sums[2] + bias) * sums[1];
    gate(2, sums[2]);
    vectors::math::tanh(sums[2], result);
    result += sums[0] * (before - result);
  } else if constexpr (gates == 2) {  // the first pass of a GRU: update, reset
    units.load(step.before + row * step.pitch_before + first, before);
    gate(0, sums[0]);
    gate(1, sums[1]);
    vectors::sigmoid(sums[0], result);
    vectors::sigmoid(sums[1], sums[1]);
    units.store(before * sums[1], step.scaled + own);
  } else if (layer.cell == recurrent_cell::gru) {  // its second pass
    gate(2, sums[0]);
    vectors::math::tanh(sums[0], result);
    lanes update;
    units.load(after, update);
    units.load(step.before + row * step.pitch_before + first, before);
    result += update * (before - result);
  } else {
    gate(0, sums[0]);
    if (layer.cell == recurrent_cell::tanh) {
      vectors::math::tanh(sums[0], result);
    } else if (layer.cell == recurrent_cell::sigmoid) {
      vectors::sigmoid(sums[0], result);
    } else {
      const typename pointwise_vectors<width>::bits below = sums[0] < 0.0F;  // not for NaN
      vectors::math::select(below, lanes{}, sums[0], result);
    }
  }
  units.store(result, after);
}

/// Computes a block of hidden units for `rows` rows, whose products are summed together, so that
/// each weight is loaded once.
template <int width, int gates, int rows>
GRAPHLINE_INLINE void compute_rows(const recurrent_pass& pass, const recurrent_step& step,
                                   const float* weights, std::int64_t first, std::int64_t row) {
  using lanes = typename unit_vectors<width>::lanes;
  // Sums of several chains hide the latency of additions.
  constexpr int chains = rows * gates < 8 ? 8 / (rows * gates) : 1;
  const std::int64_t hidden = pass.layer.hidden;
  const bool second = pass.layer.cell == recurrent_cell::gru && gates == 1;
  const float* states = second ? step.scaled : step.before;
  const std::int64_t pitch = second ? hidden : step.pitch_before;
  states += row * pitch;
  lanes sums[chains][rows][gates] = {};
  std::int64_t j = 0;
  const auto add = [&](lanes(&to)[rows][gates]) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int gate = 0; gate < gates; ++gate) {
      lanes weight;
      const float* from = weights + (j * gates + gate) * width;
      __builtin_prefetch(from + elements_ahead);
      std::memcpy(&weight, from, sizeof weight);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) to[i][gate] += weight * states[i * pitch + j];
    }
    ++j;
  };
  while (j + chains <= hidden) {
#pragma GCC unroll 8
    for (int chain = 0; chain < chains; ++chain) add(sums[chain]);
  }
  while (j < hidden) add(sums[0]);
  for (int i = 0; i < rows; ++i) {
    for (int chain = 1; chain < chains; ++chain) {
      for (int gate = 0; gate < gates; ++gate) sums[0][i][gate] += sums[chain][i][gate];
    }
    finish_row<width, gates>(pass, step, first, row + i, sums[0][i]);
  }
}

template <int width, int gates>
GRAPHLINE_INLINE void compute_gates(const recurrent_pass& pass, std::int64_t item) {
  constexpr int together = width == 16 ? 4 : 2;  // as many as the registers hold
  const recurrent_step& step = pass.directions[static_cast<std::size_t>(item / pass.blocks)];
  const std::int64_t block = item % pass.blocks;
  const float* weights = step.weights + block * pass.layer.hidden * gates * width;
  std::int64_t row = 0;
  for (; row + together <= pass.batch; row += together) {
    compute_rows<width, gates, together>(pass, step, weights, block * width, row);
  }
  for (; row < pass.batch; ++row) {
    compute_rows<width, gates, 1>(pass, step, weights, block * width, row);
  }
}

/// Computes a block of a pass; items count the blocks of all directions.
struct recurrent_block {
  template <int width>
  static GRAPHLINE_INLINE void run(const recurrent_pass& pass, std::int64_t item) {
    switch (pass.gates()) {
      case 4:
        return compute_gates<width, 4>(pass, item);
      case 3:
        return compute_gates<width, 3>(pass, item);
      case 2:
        return compute_gates<width, 2>(pass, item);
      default:
        return compute_gates<width, 1>(pass, item);
    }
  }
};

}  // namespace

const std::vector<recurrent_code>& recurrent_codes() {
  return vector_codes<recurrent_block, 16, const recurrent_pass&, std::int64_t>::supported();
}

std::vector<float> recurrent_loops::in_order(std::span<const float> weights) const {
  const std::int64_t hidden = layer_.hidden;
  const std::int64_t gates = layer_.gates();
  std::vector<float> to;
  const auto add_gates = [&](const float* from, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = 0; row < blocks() * hidden; ++row) {
      const std::int64_t first = row / hidden * code_.width;  // unit
      for (std::int64_t i = begin * code_.width; i < end * code_.width; ++i) {
        const std::int64_t unit = first + i % code_.width;
        const std::int64_t gate = i / code_.width;
        to.push_back(unit < hidden ? from[(gate * hidden + unit) * hidden + row % hidden] : 0.0F);
      }
    }
  };
  for (std::int64_t direction = 0; direction < layer_.directions(); ++direction) {
    const float* from = weights.data() + direction * gates * hidden * hidden;
    const std::int64_t of_first_pass = takes_two_passes(layer_) ? 2 : gates;
    add_gates(from, 0, of_first_pass);
    add_gates(from, of_first_pass, gates);
  }
  return to;
}

void recurrent_loops::run(std::span<const float* const> from, std::span<float* const> to) const {
  const bool is_lstm = layer_.cell == recurrent_cell::lstm;
  const bool two_passes = takes_two_passes(layer_);
  const std::int64_t directions = layer_.directions();
  const std::int64_t hidden = layer_.hidden;
  const std::size_t weights = is_lstm ? 3 : 2;  // their position in `from`
  const std::int64_t weights_of_gate = blocks() * code_.width * hidden;
  const auto reversed = [&](std::int64_t direction) {
    return layer_.way == recurrent_layer::direction::backward || direction == 1;
  };
  const auto result_of = [&](std::int64_t direction, std::int64_t step) {
    const std::int64_t at = reversed(direction) ? steps_ - 1 - step : step;
    return to[0] + (at * batch_ * directions + direction) * hidden;
  };
  const auto step_of = [&](std::int64_t direction, std::int64_t step, bool second) {
    const std::int64_t at = reversed(direction) ? steps_ - 1 - step : step;
    const std::int64_t state = direction * batch_ * hidden;
    recurrent_step made{
        .x = from[0] + (at * batch_ * directions + direction) * layer_.gates() * hidden,
        .weights =
            from[weights] + (direction * layer_.gates() + (second ? 2 : 0)) * weights_of_gate,
        .before = step == 0 ? from[1] + state : result_of(direction, step - 1),
        .pitch_before = step == 0 ? hidden : directions * hidden,
        .after = result_of(direction, step),
        .scaled = to[1] + state};
    if (layer_.reset_after) made.bias = from[weights + 1] + direction * hidden;
    if (layer_.peepholes) made.peepholes = from[weights + 1] + direction * 3 * hidden;
    if (is_lstm) {
      made.cell = to[2] + state;
      made.cell_before = step == 0 ? from[2] + state : made.cell;
    }
    return made;
  };
  // With less work per step, waking threads takes longer.
  constexpr std::int64_t few_products = 32768;
#pragma omp parallel if (directions * batch_ * layer_.gates() * hidden > few_products / hidden)
  for (std::int64_t step = 0; step < steps_; ++step) {
    for (const bool second : {false, true}) {
      if (second && !two_passes) continue;
      recurrent_pass pass{layer_, batch_, blocks(), two_passes && !second, {}};
      for (std::int64_t i = 0; i < directions; ++i) {
        pass.directions[static_cast<std::size_t>(i)] = step_of(i, step, second);
      }
#pragma omp for schedule(static)
      for (std::int64_t item = 0; item < directions * blocks(); ++item) code_.run(pass, item);
    }
  }
  for (std::int64_t i = 0; i < directions; ++i) {
    for (std::int64_t row = 0; row < batch_; ++row) {
      std::copy_n(result_of(i, steps_ - 1) + row * directions * hidden, hidden,
                  to[1] + (i * batch_ + row) * hidden);
    }
  }
}

}  // namespace graphline::nn
