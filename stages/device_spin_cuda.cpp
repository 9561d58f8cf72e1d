#include <fmt/format.h>

#include "stages/kinds.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline {
namespace {

class device_spin final : public device_stage {
 public:
  explicit device_spin(const stage_config& config)
      : owner_(fmt::format("stage '{}'", config.name)),
        form_(nn::spin_form{config.arguments.duration("duration")}) {}

  std::vector<stage_part> parts() const override { return {{"spin", "spin kernel"}}; }

  std::unique_ptr<device_work> bind(const stage_tensors& /*tensors*/) override {
    return one_part([this](stream& s) { nn::enqueue_kernel(form_, {}, s.native(), owner_); });
  }

 private:
  std::string owner_;
  nn::kernel_form form_;
};

}  // namespace

std::unique_ptr<device_stage> make_cuda_spin(device& /*d*/, const stage_config& config) {
  return std::make_unique<device_spin>(config);
}

}  // namespace graphline
