#include "stages/network/host/network_host.hpp"

#include <utility>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "stages/network/definition.hpp"
#include "stages/network/host/lowering.hpp"
#include "stages/network/network_weights.hpp"

namespace graphline {

namespace {

class network_work final : public device_work {
 public:
  explicit network_work(std::vector<std::unique_ptr<host_operation>> operations)
      : operations_(std::move(operations)) {}

  void enqueue(stream& s) override {
    for (const auto& operation : operations_) host_enqueue(s, *operation);
  }

 private:
  std::vector<std::unique_ptr<host_operation>> operations_;
};

class network_stage final : public device_stage {
 public:
  network_stage(device& d, const network_definition& network, const weight_table& weights,
                const std::string& stage) {
    host_call(d, [&] { program_ = lower_network(network, weights, stage); });
    if (program_.weights_bytes > 0) weights_ = d.allocate(program_.weights_bytes);
    host_call(d, [&] { program_.load_constants(weights_.at(0)); });
  }

  std::size_t scratch_bytes() const override { return program_.scratch_bytes; }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<network_work>(
        program_.bind({.input = tensors.inputs.at(0).data,
                       .output = tensors.outputs.at(0).data,
                       .weights = weights_.at(0),
                       .scratch = static_cast<std::byte*>(tensors.scratch)}));
  }

 private:
  host_program program_;
  memory weights_;
};

}  // namespace

std::unique_ptr<device_stage> make_network_host(device& d, const stage_config& config) {
  diagnostics problems;
  const network_definition network =
      define_network(config.arguments.tree("layers"), config.inputs.at(0).shape,
                     config.arguments.where("layers"), problems);
  problems.throw_if_errors();
  const weight_table weights(network_weights(network, config));
  return std::make_unique<network_stage>(d, network, weights, config.name);
}

}  // namespace graphline
