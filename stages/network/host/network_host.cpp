#include "stages/network/definition.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "stages/network/host/lowering.hpp"
#include "stages/network/network_weights.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {

namespace {

class network_work final : public device_work {
 public:
  network_work(std::vector<std::unique_ptr<host_operation>> operations,
               const std::vector<program_part>& parts)
      : operations_(std::move(operations)), parts_(parts) {}

  void enqueue(stream& s) override {
    for (const auto& operation : operations_) host_enqueue(s, *operation);
  }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    std::size_t step = 0;
    for (const program_part& part : parts_) {
      for (; step < part.end_steps; ++step) host_enqueue(s, *operations_[step]);
      marker.part_enqueued(s);
    }
  }

 private:
  std::vector<std::unique_ptr<host_operation>> operations_;
  const std::vector<program_part>& parts_;
};

class network_stage final : public device_stage {
 public:
  network_stage(device& d, const network_definition& network, const weight_table& weights,
                const std::string& stage, precision asked)
      : asked_(asked) {
    host_call(d, [&] { program_ = lower_network(network, weights, stage); });
    if (program_.weights_bytes > 0) weights_ = d.allocate(program_.weights_bytes);
    host_call(d, [&] { program_.load_constants(weights_.at(0)); });
  }

  std::size_t scratch_bytes() const override { return program_.scratch_bytes; }

  std::vector<stage_part> parts() const override {
    std::vector<stage_part> all;
    std::size_t step = 0;
    for (const program_part& part : program_.parts) {
      std::string choice = "oneDNN";
      for (const char* separator = " "; step < part.end_steps; ++step, separator = ", ") {
        choice += separator + program_.steps[step].name;
      }
      if (asked_ != precision::float32) {
        choice += fmt::format("; in float32, host has no {}", to_word(asked_));
      }
      all.push_back({part.name, std::move(choice), part.cost});
    }
    return all;
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<network_work>(
        program_.bind({.input = tensors.inputs.at(0).data,
                       .output = tensors.outputs.at(0).data,
                       .weights = weights_.at(0),
                       .scratch = static_cast<std::byte*>(tensors.scratch)}),
        program_.parts);
  }

 private:
  precision asked_;
  host_program program_;
  memory weights_;
};

}  // namespace

std::unique_ptr<device_stage> make_network_host(device& d, const stage_config& config) {
  const network_definition network = network_of(config);
  const weight_table weights(network_weights(network, config));
  return std::make_unique<network_stage>(d, network, weights, config.name,
                                         precision_of(config.arguments));
}

}  // namespace graphline
