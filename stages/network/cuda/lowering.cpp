#include "stages/network/cuda/lowering.hpp"

#include <variant>

namespace graphline {

cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target) {
  cuda_program_builder builder(network, weights, target);
  for (const fused_layers& group : fuse_layers(network, fused_heads::element_wise_too)) {
    std::visit([&](const auto& operation) { lower(builder, group, operation); },
               network.layers[group.head].operation);
    builder.end_part(group);
  }
  return builder.finish();
}

}  // namespace graphline
