#include "stages/kinds.hpp"
#include "stages/network/cuda/lowering.hpp"
#include "stages/onnx/onnx_import.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_onnx_cuda(device& d, const stage_config& config) {
  onnx_network network = onnx_network_of(config);
  const weight_table weights(network.definition, std::move(network.constants));
  return make_cuda_network(d, network.definition, weights, config);
}

}  // namespace graphline
