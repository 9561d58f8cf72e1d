#include "stages/cuda/cuda_kinds.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/kernel_forms.hpp"
#include "stages/network/cuda/lowering.hpp"
#include "stages/network/definition.hpp"
#include "stages/network/network_weights.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {

namespace {

/// The form of a stage's only tensor; no layout stated is row-major.
value_form form_of(const std::vector<tensor_type>& types,
                   const std::vector<tensor_layout>& layouts) {
  return {layouts.empty() ? tensor_layout::row_major : layouts.front(), types.at(0).element};
}

class network_work final : public device_work {
 public:
  network_work(std::vector<bound_step> steps, const std::vector<cuda_part>& parts)
      : steps_(std::move(steps)), parts_(parts) {}

  void enqueue(stream& s) override {
    for (const bound_step& step : steps_) enqueue(step, s);
  }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    std::size_t step = 0;
    for (const cuda_part& part : parts_) {
      for (; step < part.end_steps; ++step) enqueue(steps_[step], s);
      marker.part_enqueued(s);
    }
  }

 private:
  static void enqueue(const bound_step& bound, stream& s) {
    const cuda_step& step = *bound.step;
    if (const auto* kernel = std::get_if<kernel_form>(&step.work)) {
      enqueue_kernel(*kernel, bound.operands, s.native(), step.owner);
    } else {
      std::get<std::shared_ptr<library_operation>>(step.work)->enqueue(s.native(), bound.operands,
                                                                       bound.workspace);
    }
  }

  std::vector<bound_step> steps_;
  const std::vector<cuda_part>& parts_;
};

class network_stage final : public device_stage {
 public:
  network_stage(device& d, const network_definition& network, const weight_table& weights,
                const stage_config& config)
      : precision_(precision_of(config.arguments)),
        library_(open_cuda_libraries(d, tune_of(config.arguments),
                                     fmt::format("stage '{}'", config.name))),
        program_(
            lower_network_for_cuda(network, weights,
                                   {.library = *library_,
                                    .precision = precision_,
                                    .stage = config.name,
                                    .input = form_of(config.inputs, config.input_layouts),
                                    .output = form_of(config.outputs, config.output_layouts)})) {
    if (program_.weights_bytes > 0) upload(d);
  }

  std::size_t scratch_bytes() const override { return program_.scratch_bytes; }

  std::vector<stage_part> parts() const override {
    std::vector<stage_part> all;
    for (const cuda_part& part : program_.parts) {
      all.push_back({part.name, part.choice, part.cost, precision_});
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
  void upload(device& d) {
    weights_ = d.allocate(program_.weights_bytes);
    const memory staging = d.allocate_pinned(program_.weights_bytes);
    program_.write_constants(staging.at(0));
    const auto s = d.make_stream("weights", priority::normal);
    s->copy(weights_.data(), staging.data(), program_.weights_bytes);
    d.synchronize(wait_mode::block);
  }

  precision precision_;
  std::unique_ptr<cuda_library> library_;  // outlives the operations that it planned
  cuda_program program_;
  memory weights_;
};

}  // namespace

device_form network_form(const arguments& values, const std::string& backend) {
  if (backend != "cuda") return {};
  return {.channels_last = true, .element = element_of(precision_of(values))};
}

std::unique_ptr<device_stage> make_network_cuda(device& d, const stage_config& config) {
  const network_definition network = network_of(config);
  const weight_table weights(network_weights(network, config));
  return std::make_unique<network_stage>(d, network, weights, config);
}

}  // namespace graphline
