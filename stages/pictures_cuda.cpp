#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline {
namespace {

/// A kernel that reads pictures and, optionally, their sizes.
class picture_kernel final : public device_stage {
 public:
  picture_kernel(const stage_config& config, const char* kind, nn::kernel_form form)
      : owner_(fmt::format("stage '{}'", config.name)), kind_(kind), form_(form) {}

  std::vector<stage_part> parts() const override {
    return {{kind_, fmt::format("{} kernel", kind_)}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    void* const sizes = tensors.inputs.size() > 1 ? tensors.inputs[1].data : nullptr;
    const std::array<void*, 3> operands{tensors.inputs.at(0).data, sizes,
                                        tensors.outputs.at(0).data};
    return one_part(
        [this, operands](stream& s) { nn::enqueue_kernel(form_, operands, s.native(), owner_); });
  }

 private:
  std::string owner_;
  const char* kind_;
  nn::kernel_form form_;
};

}  // namespace

std::unique_ptr<device_stage> make_cuda_resize(device& /*d*/, const stage_config& config) {
  const shape& from = config.inputs.at(0).shape;
  const shape& to = config.outputs.at(0).shape;
  const nn::resize_pictures_form form{
      .batch = from[0], .channels = from[3], .in = {from[1], from[2]}, .out = {to[1], to[2]}};
  return std::make_unique<picture_kernel>(config, "resize", form);
}

std::unique_ptr<device_stage> make_cuda_normalize(device& /*d*/, const stage_config& config) {
  const shape& from = config.inputs.at(0).shape;
  const normalization scale = normalization_of(config.arguments);
  nn::normalize_pictures_form form{.to = config.outputs.at(0).element,
                                   .batch = from[0],
                                   .in = {from[1], from[2]},
                                   .blue_first = scale.blue_first};
  form.channels_last =
      !config.output_layouts.empty() && config.output_layouts[0] == tensor_layout::channels_last;
  std::ranges::copy(scale.factor, form.factor);
  std::ranges::copy(scale.offset, form.offset);
  return std::make_unique<picture_kernel>(config, "normalize", form);
}

}  // namespace graphline
