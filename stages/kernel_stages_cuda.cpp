#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/spinning.hpp"

namespace graphline {
namespace {

/// A stage that is one kernel. Its operands are the first `inputs` inputs, null where the stage has
/// fewer, then the outputs.
class kernel_stage final : public device_stage {
 public:
  kernel_stage(const stage_config& config, const char* part, nn::kernel_form form,
               std::size_t inputs)
      : owner_(fmt::format("stage '{}'", config.name)),
        part_(part),
        form_(std::move(form)),
        inputs_(inputs) {}

  std::vector<stage_part> parts() const override {
    return {{part_, fmt::format("{} kernel", part_)}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    std::vector<void*> operands(inputs_);
    for (std::size_t i = 0; i < std::min(inputs_, tensors.inputs.size()); ++i) {
      operands[i] = tensors.inputs[i].data;
    }
    for (const tensor_view& output : tensors.outputs) operands.push_back(output.data);
    return one_part(
        [this, operands](stream& s) { nn::enqueue_kernel(form_, operands, s.native(), owner_); });
  }

 private:
  std::string owner_;
  const char* part_;
  nn::kernel_form form_;
  std::size_t inputs_;
};

}  // namespace

std::unique_ptr<device_stage> make_cuda_spin(device& /*d*/, const stage_config& config) {
  const nn::spin_form form{device_spin_time(config)};
  return std::make_unique<kernel_stage>(config, "spin", form, 0);
}

std::unique_ptr<device_stage> make_cuda_arg_max(device& /*d*/, const stage_config& config) {
  const std::int64_t rows = config.outputs.at(0).shape.elements();
  const nn::top_k_form form{
      .indices = dtype::int64,
      .axis = {.outer = rows, .extent = config.inputs.at(0).shape.elements() / rows}};
  return std::make_unique<kernel_stage>(config, "arg_max", form, 1);
}

std::unique_ptr<device_stage> make_cuda_resize(device& /*d*/, const stage_config& config) {
  const shape& from = config.inputs.at(0).shape;
  const shape& to = config.outputs.at(0).shape;
  const nn::resize_pictures_form form{
      .batch = from[0], .channels = from[3], .in = {from[1], from[2]}, .out = {to[1], to[2]}};
  return std::make_unique<kernel_stage>(config, "resize", form, 2);
}

std::unique_ptr<device_stage> make_cuda_normalize(device& /*d*/, const stage_config& config) {
  const shape& from = config.inputs.at(0).shape;
  const normalization scale = normalization_of(config.arguments);
  nn::normalize_pictures_form form{.to = config.outputs.at(0).element,
                                   .batch = from[0],
                                   .in = {from[1], from[2]},
                                   .blue_first = scale.blue_first,
                                   .gray = scale.gray};
  form.channels_last =
      !config.output_layouts.empty() && config.output_layouts[0] == tensor_layout::channels_last;
  std::ranges::copy(scale.factor, form.factor);
  std::ranges::copy(scale.offset, form.offset);
  return std::make_unique<kernel_stage>(config, "normalize", form, 2);
}

}  // namespace graphline
