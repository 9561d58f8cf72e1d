#include <algorithm>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

/// Reorders each direction's gates from ONNX's order (input, output, forget, cell) to the order of
/// `lstm_layer`.
std::vector<float> gates_in_order(const std::vector<float>& from, std::int64_t directions) {
  const std::ptrdiff_t gate = std::ssize(from) / directions / 4;
  std::vector<float> to;
  for (std::int64_t direction = 0; direction < directions; ++direction) {
    for (const std::int64_t which : {0, 2, 3, 1}) {
      const auto begin = from.begin() + (4 * direction + which) * gate;
      to.insert(to.end(), begin, begin + gate);
    }
  }
  return to;
}

void require_plain_lstm(const onnx_call& node, std::int64_t steps, std::size_t directions) {
  std::vector<std::string> usual;
  for (std::size_t i = 0; i < directions; ++i) {
    usual.insert(usual.end(), {"Sigmoid", "Tanh", "Tanh"});
  }
  const auto* activations = node.node().attribute<std::vector<std::string>>("activations");
  node.require(activations == nullptr || *activations == usual,
               "has other activations than Sigmoid, Tanh and Tanh, which is not supported");
  node.require(node.number("clip", 0.0F) == 0, "has a 'clip', which is not supported");
  node.require(node.integer("input_forget", 0) == 0,
               "has an 'input_forget', which is not supported");
  node.require(node.integer("layout", 0) == 0, "has the batch first, which is not supported");
  node.require(!node.has(7), "has peepholes, which is not supported");
  const auto is_whole = [&](std::int64_t length) { return length == steps; };
  node.require(!node.has(4) || std::ranges::all_of(node.integers(4), is_whole),
               "has sequences of different lengths, which is not supported");
}

std::vector<std::size_t> import_lstm(onnx_importer& to, const onnx_call& node) {
  const shape x = node.extents(0);
  const shape& weight = node.extents(1);
  const shape& recurrent = node.extents(2);
  node.require(x.rank() == 3 && weight.rank() == 3 && recurrent.rank() == 3,
               "takes [steps, batch, features] and weights of three dimensions");
  const std::string written = node.text("direction", "forward");
  node.require(written == "forward" || written == "reverse" || written == "bidirectional",
               "has a direction that is not known");
  using direction = lstm_layer::direction;
  const lstm_layer lstm{written == "forward"   ? direction::forward
                        : written == "reverse" ? direction::backward
                                               : direction::both,
                        recurrent[2]};
  node.require(lstm.hidden > 0 && lstm.hidden <= 2147483647,
               "has a hidden size that is not from 1 to 2^31 - 1");
  node.require(node.integer("hidden_size", lstm.hidden) == lstm.hidden,
               "has weights of another hidden size than its 'hidden_size'");
  const std::int64_t directions = lstm.way == direction::both ? 2 : 1;
  const shape gates{directions, 4 * lstm.hidden};
  node.require(recurrent == shape{directions, 4 * lstm.hidden, lstm.hidden} &&
                   weight == shape{directions, 4 * lstm.hidden, x[2]},
               "has weights that do not fit x");
  require_plain_lstm(node, x[0], static_cast<std::size_t>(directions));

  const shape state{directions, x[1], lstm.hidden};
  node.charge(state);
  const auto first_state = [&](std::size_t input) {
    if (node.has(input)) return to.value(input);
    return to.add_constant(std::vector<float>(static_cast<std::size_t>(state.elements())), state);
  };
  // ONNX adds separate biases for x and for the hidden state; one bias holds their sum.
  std::vector<float> bias(static_cast<std::size_t>(gates.elements()));
  if (node.has(3)) {
    node.require(node.extents(3) == shape{directions, 8 * lstm.hidden},
                 "has a bias that does not fit its weights");
    const std::vector<float> both = node.floats(3);
    const auto half = static_cast<std::size_t>(4 * lstm.hidden);
    for (std::size_t i = 0; i < bias.size(); ++i) {
      const std::size_t begin = i / half * half;
      bias[i] = both[begin + i] + both[begin + i + half];
    }
  }
  const std::vector<std::size_t> given =
      to.add_all(lstm, {to.value(0), first_state(5), first_state(6)},
                 {to.add_weight(1, gates_in_order(node.floats(1), directions), weight),
                  to.add_weight(2, gates_in_order(node.floats(2), directions), recurrent),
                  node.has(3) ? to.add_weight(3, gates_in_order(bias, directions), gates)
                              : to.add_constant(bias, gates)});
  const std::size_t apart = to.add_reshape(given[0], {x[0], x[1], directions, lstm.hidden});
  const std::size_t all = directions == 1 ? to.add_reshape(apart, {x[0], 1, x[1], lstm.hidden})
                                          : to.add(transpose_layer{{0, 2, 1, 3}}, {apart});
  return {all, given[1], given[2]};
}

}  // namespace

onnx_operators imported_recurrent() {
  return {{"LSTM", import_lstm}};
}

}  // namespace graphline::nn::onnx
