#include <cstddef>
#include <cstdint>

#include "framework/device/host/host_device.hpp"
#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Each picture has its own stage object, because these keep intermediate rows.
class picture_operation final : public host_operation {
 public:
  picture_operation(const stage_tensors& tensors, const picture_stage_factory& make,
                    const stage_config& config)
      : name_(config.name), outputs_(tensors.outputs) {
    for (const tensor_view& input : tensors.inputs) inputs_.push_back({input.data, input.type});
    const auto count = static_cast<std::size_t>(inputs_.at(0).type.shape[0]);
    for (std::size_t i = 0; i < count; ++i) stages_.push_back(make(config));
  }

  std::string_view name() const noexcept override { return name_; }

  void run() override {
    const auto count = static_cast<std::int64_t>(stages_.size());
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>(i);
      stages_[index]->run_picture({.inputs = inputs_, .outputs = outputs_}, index);
    }
  }

 private:
  std::string name_;
  std::vector<const_tensor_view> inputs_;
  std::vector<tensor_view> outputs_;
  std::vector<std::unique_ptr<picture_stage>> stages_;
};

class picture_device_stage final : public device_stage {
 public:
  picture_device_stage(std::string part, picture_stage_factory make, stage_config config)
      : part_(std::move(part)), make_(std::move(make)), config_(std::move(config)) {}

  std::vector<stage_part> parts() const override { return {{part_, "loops over pictures"}}; }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return one_part([operation = std::make_unique<picture_operation>(tensors, make_, config_)](
                        stream& s) { host_enqueue(s, *operation); });
  }

 private:
  std::string part_;
  picture_stage_factory make_;
  stage_config config_;
};

}  // namespace

device_stage_factory pictures_on_host(std::string part, picture_stage_factory make) {
  return
      [part = std::move(part), make = std::move(make)](device& /*d*/, const stage_config& config) {
        return std::make_unique<picture_device_stage>(part, make, config);
      };
}

}  // namespace graphline
