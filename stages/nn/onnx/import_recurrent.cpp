#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

/// Positions in ONNX of the gates of `recurrent_layer`, and of the gates with peepholes.
std::vector<std::int64_t> gates_of(const recurrent_layer& recurrent) {
  if (recurrent.cell == recurrent_cell::lstm)
    return {0, 2, 3, 1};  // of input, output, forget, cell
  if (recurrent.cell == recurrent_cell::gru) return {0, 1, 2};
  return {0};
}
const std::vector<std::int64_t> peephole_gates{0, 2, 1};  // of input, output, forget

/// Reorders each direction's gates from ONNX's order.
std::vector<float> gates_in_order(const std::vector<float>& from, std::int64_t directions,
                                  const std::vector<std::int64_t>& order) {
  const std::ptrdiff_t count = std::ssize(order);
  const std::ptrdiff_t gate = std::ssize(from) / directions / count;
  std::vector<float> to;
  for (std::int64_t direction = 0; direction < directions; ++direction) {
    for (const std::int64_t which : order) {
      const auto begin = from.begin() + (count * direction + which) * gate;
      to.insert(to.end(), begin, begin + gate);
    }
  }
  return to;
}

/// ONNX adds separate biases for x and for the hidden state. Returns those of x, which hold their
/// sum, except where a GRU with `reset_after` scales the latter, and these.
std::array<std::vector<float>, 2> biases_in_order(const std::vector<float>& from,
                                                  const recurrent_layer& recurrent) {
  const std::int64_t gates = recurrent.gates() * recurrent.hidden;
  const std::vector<float> both =
      gates_in_order(from, 2 * recurrent.directions(), gates_of(recurrent));
  std::array<std::vector<float>, 2> to;
  for (auto x = both.begin(); x != both.end(); x += 2 * gates) {
    for (std::int64_t i = 0; i < gates; ++i) {
      const bool apart = recurrent.reset_after && i >= 2 * recurrent.hidden;
      to[0].push_back(apart ? x[i] : x[i] + x[gates + i]);
      if (apart) to[1].push_back(x[gates + i]);
    }
  }
  return to;
}

/// Returns the node's cell by its activations, which are the same in all directions.
recurrent_cell cell_of(const onnx_call& node, std::size_t directions) {
  // An operator and its activations; the usual ones of each operator first.
  static const std::pair<std::vector<std::string>, recurrent_cell> cells[] = {
      {{"RNN", "Tanh"}, recurrent_cell::tanh},
      {{"RNN", "Relu"}, recurrent_cell::relu},
      {{"RNN", "Sigmoid"}, recurrent_cell::sigmoid},
      {{"GRU", "Sigmoid", "Tanh"}, recurrent_cell::gru},
      {{"LSTM", "Sigmoid", "Tanh", "Tanh"}, recurrent_cell::lstm}};
  const auto* given = node.node().attribute<std::vector<std::string>>("activations");
  for (const auto& [words, cell] : cells) {
    if (words.front() != node.node().op_type) continue;
    std::vector<std::string> all;
    for (std::size_t i = 0; i < directions; ++i) {
      all.insert(all.end(), words.begin() + 1, words.end());
    }
    if (given == nullptr || *given == all) return cell;
  }
  node.refuse(
      fmt::format("has the activations {}, which are not supported", fmt::join(*given, ", ")));
}

}  // namespace

std::vector<std::size_t> import_recurrent(onnx_importer& to, const onnx_call& node) {
  const bool batch_first = node.integer("layout", 0) != 0;
  const shape& weight = node.extents(1);
  const shape& recurrence = node.extents(2);
  node.require(node.extents(0).rank() == 3 && weight.rank() == 3 && recurrence.rank() == 3,
               "takes [steps, batch, features] and weights of three dimensions");
  const auto turned = [&](std::size_t value) {
    return batch_first ? to.add(transpose_layer{{1, 0, 2}}, {value}) : value;
  };
  const std::size_t sequence = turned(to.value(0));
  const shape x = to.shape_of(sequence);
  const std::string written = node.text("direction", "forward");
  node.require(written == "forward" || written == "reverse" || written == "bidirectional",
               "has a direction that is not known");
  using direction = recurrent_layer::direction;
  recurrent_layer recurrent{.way = written == "forward"   ? direction::forward
                                   : written == "reverse" ? direction::backward
                                                          : direction::both,
                            .hidden = recurrence[2],
                            .peepholes = node.has(7)};
  const std::int64_t directions = recurrent.directions();
  const std::int64_t hidden = recurrent.hidden;
  recurrent.cell = cell_of(node, static_cast<std::size_t>(directions));
  recurrent.reset_after =
      recurrent.cell == recurrent_cell::gru && node.integer("linear_before_reset", 0) != 0;
  node.require(hidden > 0 && hidden <= 2147483647,
               "has a hidden size that is not from 1 to 2^31 - 1");
  node.require(node.integer("hidden_size", hidden) == hidden,
               "has weights of another hidden size than its 'hidden_size'");
  const std::int64_t gates = recurrent.gates() * hidden;
  if (recurrence != shape{directions, gates, hidden} || weight != shape{directions, gates, x[2]}) {
    node.refuse(fmt::format("has weights {} and {} that do not fit x {}", to_string(weight),
                            to_string(recurrence), to_string(x)));
  }
  node.require(node.number("clip", 0.0F) == 0, "has a 'clip', which is not supported");
  node.require(node.integer("input_forget", 0) == 0,
               "has an 'input_forget', which is not supported");
  const auto is_whole = [&](std::int64_t length) { return length == x[0]; };
  node.require(!node.has(4) || std::ranges::all_of(node.integers(4), is_whole),
               "has sequences shorter than x, which is not supported");

  const shape state{directions, x[1], hidden};
  node.charge(state);
  const std::vector<std::int64_t> order = gates_of(recurrent);
  const auto weights_of = [&](std::size_t input, const shape& extents) {
    return to.add_weight(input, gates_in_order(node.floats(input), directions, order), extents);
  };
  std::vector<std::size_t> of_x{weights_of(1, {directions * gates, x[2]})};
  std::vector<std::size_t> weights{weights_of(2, recurrence)};
  std::array<std::vector<float>, 2> biases;
  if (node.has(3)) {
    node.require(node.extents(3) == shape{directions, 2 * gates},
                 "has a bias that does not fit its weights");
    biases = biases_in_order(node.floats(3), recurrent);
    of_x.push_back(to.add_weight(3, biases[0], {directions * gates}));
  }
  if (recurrent.reset_after) {
    const shape bias{directions, hidden};
    weights.push_back(node.has(3) ? to.add_weight(3, biases[1], bias) : to.add_number(0, bias));
  }
  if (recurrent.peepholes) {
    const shape peepholes{directions, 3 * hidden};
    node.require(node.extents(7) == peepholes, "has peepholes that do not fit its weights");
    weights.push_back(
        to.add_weight(7, gates_in_order(node.floats(7), directions, peephole_gates), peepholes));
  }
  std::vector<std::size_t> inputs{to.add(
      linear_layer{.out_features = directions * gates, .bias = node.has(3), .any_rank = true},
      {sequence}, of_x)};
  for (std::size_t i = 0; i < (recurrent.cell == recurrent_cell::lstm ? 2 : 1); ++i) {
    inputs.push_back(node.has(5 + i) ? turned(to.value(5 + i)) : to.add_number(0, state));
  }
  std::vector<std::size_t> given = to.add_all(recurrent, std::move(inputs), weights);
  const std::size_t apart = to.add_reshape(given[0], {x[0], x[1], directions, hidden});
  for (std::size_t i = 1; i < given.size(); ++i) given[i] = turned(given[i]);
  if (batch_first) {
    given[0] = to.add(transpose_layer{{1, 0, 2, 3}}, {apart});
  } else if (directions == 1) {
    given[0] = to.add_reshape(apart, {x[0], 1, x[1], hidden});
  } else {
    given[0] = to.add(transpose_layer{{0, 2, 1, 3}}, {apart});
  }
  return given;
}

}  // namespace graphline::nn::onnx
