#include <fmt/format.h>

#include <array>

#include "stages/kinds.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline {
namespace {

class arg_max_stage final : public device_stage {
 public:
  explicit arg_max_stage(const stage_config& config)
      : owner_(fmt::format("stage '{}'", config.name)) {
    const std::int64_t rows = config.outputs.at(0).shape.elements();
    form_ = nn::arg_max_form{rows, config.inputs.at(0).shape.elements() / rows};
  }

  std::vector<stage_part> parts() const override { return {{"arg_max", "arg_max kernel"}}; }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    const std::array<void*, 3> operands{tensors.inputs.at(0).data, tensors.outputs.at(0).data,
                                        tensors.outputs.at(1).data};
    return one_part(
        [this, operands](stream& s) { nn::enqueue_kernel(form_, operands, s.native(), owner_); });
  }

 private:
  std::string owner_;
  nn::kernel_form form_;
};

}  // namespace

std::unique_ptr<device_stage> make_cuda_arg_max(device& /*d*/, const stage_config& config) {
  return std::make_unique<arg_max_stage>(config);
}

}  // namespace graphline
