#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stages/nn/host/vector_math.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

struct recurrent_pass;

/// Computes one block of a pass: as many hidden units of one direction as a vector has floats.
using recurrent_code = vector_code<const recurrent_pass&, std::int64_t>;

/// Returns the loops that this CPU can run, fastest first. The last ones run on any CPU.
const std::vector<recurrent_code>& recurrent_codes();

/// Computes the steps of a recurrent layer on packed tensors. With a batch of one, oneDNN takes up
/// to twice as long, because it reads the weights of x in every step, too.
class recurrent_loops {
 public:
  recurrent_loops(const recurrent_layer& layer, std::int64_t steps, std::int64_t batch,
                  const recurrent_code& code = recurrent_codes().front())
      : layer_(layer), steps_(steps), batch_(batch), code_(code) {}

  /// Returns the weights of the hidden state, weight_hh of the layer, in the order of the loops.
  std::vector<float> in_order(std::span<const float> weights) const;

  /// Reads the layer's inputs, with weight_hh in the order of the loops, and writes its outputs.
  /// The compute threads share the hidden units.
  void run(std::span<const float* const> from, std::span<float* const> to) const;

 private:
  std::int64_t blocks() const { return (layer_.hidden + code_.width - 1) / code_.width; }

  recurrent_layer layer_;
  std::int64_t steps_;
  std::int64_t batch_;
  recurrent_code code_;
};

}  // namespace graphline::nn
