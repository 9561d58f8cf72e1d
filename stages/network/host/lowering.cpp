#include "stages/network/host/lowering.hpp"

#include <fmt/format.h>

#include <variant>

#include "framework/base/error.hpp"

namespace graphline {

host_program lower_network(const network_definition& network, const weight_table& weights,
                           const std::string& stage) {
  program_builder builder(network, weights, stage);
  for (const fused_layers& group : fuse_layers(network)) {
    const network_layer& head = network.layers[group.head];
    try {
      std::visit([&](const auto& operation) { lower(builder, group, operation); }, head.operation);
      builder.end_part(group);
    } catch (const dnnl::error& e) {
      throw run_error(fmt::format(
          "{}: oneDNN cannot prepare it for {}: {} ({})", builder.owner(head),
          to_string(network.shape_of(head.inputs.front())), e.what(), describe_status(e.status)));
    }
  }
  return builder.finish();
}

}  // namespace graphline
