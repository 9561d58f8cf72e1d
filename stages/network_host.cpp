#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

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
  const auto load = [&](std::byte* to) { host_call(d, [&] { program.load_constants(to); }); };
  program_weights loaded;
  if (config.constants != nullptr) {
    std::vector<std::byte> written(program.weights_bytes);
    load(written.data());
    loaded = {program, written.data(), config.constants};
  } else if (program.weights_bytes > 0) {
    memory block = d.allocate(program.weights_bytes);
    load(block.at(0));
    loaded = {program, std::move(block)};
  }
  return std::make_unique<program_stage<nn::host_program>>(d, std::move(program),
                                                           std::move(loaded));
}

}  // namespace graphline
