#include <fmt/format.h>

#include <array>

#include "stages/kinds.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/traffic.hpp"

namespace graphline {

namespace {

class traffic_stage final : public device_stage {
 public:
  explicit traffic_stage(const stage_config& config)
      : owner_(fmt::format("stage '{}'", config.name)),
        method_(traffic_method_of(config.arguments)),
        form_{config.inputs.at(0).shape.elements()} {}

  std::size_t scratch_bytes() const override {
    if (method_ != traffic_method::read) return 0;
    return static_cast<std::size_t>(nn::pieces_of(form_)) * sizeof(float);
  }

  std::vector<stage_part> parts() const override {
    const cost amount = traffic_cost(method_, form_.count);
    if (method_ == traffic_method::copy) return {{"copy", "the runtime's copy", amount}};
    if (method_ == traffic_method::write) return {{"write", "the runtime's fill", amount}};
    return {{"read", "sum kernel", amount}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    const tensor_view from = tensors.inputs.at(0);
    const tensor_view to = tensors.outputs.at(0);
    if (method_ == traffic_method::copy) {
      return one_part([from, to](stream& s) { s.copy(to.data, from.data, from.type.bytes()); });
    }
    if (method_ == traffic_method::write) {
      return one_part([to](stream& s) { s.fill(to.data, std::byte{0}, to.type.bytes()); });
    }
    const std::array<void*, 3> operands{from.data, tensors.scratch, to.data};
    return one_part([form = nn::kernel_form(form_), operands, &owner = owner_](stream& s) {
      nn::enqueue_kernel(form, operands, s.native(), owner);
    });
  }

 private:
  std::string owner_;
  traffic_method method_;
  nn::sum_form form_;
};

}  // namespace

std::unique_ptr<device_stage> make_cuda_traffic(device& /*d*/, const stage_config& config) {
  return std::make_unique<traffic_stage>(config);
}

}  // namespace graphline
