#include <fmt/format.h>

#include <utility>

#include "framework/device/host/host_device.hpp"
#include "stages/network_stage.hpp"
#include "stages/nn/host/lowering.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/program_stage.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_host_network(device& d, const nn::network_definition& network,
                                                const nn::weight_table& weights,
                                                const stage_config& config) {
  const nn::host_target target{.owner = fmt::format("stage '{}'", config.name),
                               .asked = precision_of(config.arguments),
                               .flush_denormals = flushes_denormals(config.arguments)};
  nn::host_program program;
  host_call(d, [&] { program = nn::lower_network_for_host(network, weights, target); });
  memory constants;
  if (program.weights_bytes > 0) constants = d.allocate(program.weights_bytes);
  host_call(d, [&] { program.load_constants(constants.at(0)); });
  return std::make_unique<program_stage<nn::host_program>>(std::move(program),
                                                           std::move(constants));
}

}  // namespace graphline
