#include <fmt/format.h>

#include <utility>
#include <vector>

#include "stages/nn/host/lowering.hpp"
#include "stages/nn/host/recurrent_loops.hpp"

namespace graphline::nn {

void lower(host_lowering& b, const layer_group& group, const recurrent_layer& recurrent) {
  const network_layer& head = b.layer(group.head);
  const shape& x = b.input_shape(head);
  const recurrent_loops loops(recurrent, x[0], x[1]);
  const std::size_t states = recurrent.cell == recurrent_cell::lstm ? 2 : 1;
  std::vector<host_operand> from;
  for (std::size_t i = 0; i < head.inputs.size(); ++i) {
    if (i != 1 + states) {
      from.emplace_back(b.plain_input_of(head, i));
      continue;
    }
    std::vector<float> weights = loops.in_order(b.weights().of(head, i));
    const shape extents{std::ssize(weights)};
    from.emplace_back(b.constant(std::move(weights), extents, plain_layout(extents)));
  }
  b.add_loops(head.kind, fmt::format("{} loops", recurrent_codes().front().instructions),
              std::move(from), b.make_outputs(head),
              [loops](const auto& read, const auto& written) { loops.run(read, written); });
}

}  // namespace graphline::nn
