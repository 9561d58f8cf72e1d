#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/one_part_stage.hpp"
#include "stages/spinning.hpp"
#include "stages/traffic.hpp"

namespace graphline {
namespace {

std::string owner_of(const stage_config& config) {
  return fmt::format("stage '{}'", config.name);
}

/// Makes a stage that is one kernel. Its operands are the first `inputs` inputs, null where the
/// stage has fewer, then the outputs.
std::unique_ptr<device_stage> kernel_stage(const stage_config& config, const std::string& part,
                                           const nn::kernel_form& form, std::size_t inputs) {
  return std::make_unique<one_part_stage>(
      std::vector<stage_part>{{part, fmt::format("{} kernel", part)}},
      [form, inputs, owner = owner_of(config)](const stage_tensors& tensors) -> enqueue_function {
        std::vector<void*> operands(inputs);
        for (std::size_t i = 0; i < std::min(inputs, tensors.inputs.size()); ++i) {
          operands[i] = tensors.inputs[i].data;
        }
        for (const tensor_view& output : tensors.outputs) operands.push_back(output.data);
        return [=](stream& s) { nn::enqueue_kernel(form, operands, s.native(), owner); };
      });
}

}  // namespace

std::unique_ptr<device_stage> make_cuda_spin(device& /*d*/, const stage_config& config) {
  const nn::spin_form form{device_spin_time(config)};
  return kernel_stage(config, "spin", form, 0);
}

std::unique_ptr<device_stage> make_cuda_arg_max(device& /*d*/, const stage_config& config) {
  const std::int64_t rows = config.outputs.at(0).shape.elements();
  const nn::top_k_form form{
      .indices = dtype::int64,
      .axis = {.outer = rows, .extent = config.inputs.at(0).shape.elements() / rows}};
  return kernel_stage(config, "arg_max", form, 1);
}

std::unique_ptr<device_stage> make_cuda_resize(device& /*d*/, const stage_config& config) {
  const shape& from = config.inputs.at(0).shape;
  const shape& to = config.outputs.at(0).shape;
  const nn::resize_pictures_form form{
      .batch = from[0], .channels = from[3], .in = {from[1], from[2]}, .out = {to[1], to[2]}};
  return kernel_stage(config, "resize", form, 2);
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
  return kernel_stage(config, "normalize", form, 2);
}

std::unique_ptr<device_stage> make_cuda_traffic(device& /*d*/, const stage_config& config) {
  const traffic_method method = traffic_method_of(config.arguments);
  const nn::sum_form sum{config.inputs.at(0).shape.elements()};
  const cost amount = traffic_cost(method, sum.count);
  const auto make = [&](const char* part, const char* choice, one_part_stage::binding bind,
                        std::int64_t scratch = 0) {
    return std::make_unique<one_part_stage>(std::vector<stage_part>{{part, choice, amount}},
                                            std::move(bind),
                                            static_cast<std::size_t>(scratch) * sizeof(float));
  };
  if (method == traffic_method::copy) return make("copy", "the runtime's copy", enqueue_copy);
  if (method == traffic_method::write) {
    return make("write", "the runtime's fill", [](const stage_tensors& tensors) {
      return [to = tensors.outputs.at(0)](stream& s) {
        s.fill(to.data, std::byte{0}, to.type.bytes());
      };
    });
  }
  return make(
      "read", "sum kernel",
      [form = nn::kernel_form(sum), owner = owner_of(config)](const stage_tensors& tensors) {
        const std::array<void*, 3> operands{tensors.inputs.at(0).data, tensors.scratch,
                                            tensors.outputs.at(0).data};
        return [=](stream& s) { nn::enqueue_kernel(form, operands, s.native(), owner); };
      },
      nn::pieces_of(sum));
}

}  // namespace graphline
