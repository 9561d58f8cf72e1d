#include <cstdint>

#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/operations/greatest.hpp"

namespace graphline {
namespace {

class arg_max_operation final : public host_operation {
 public:
  explicit arg_max_operation(const stage_tensors& tensors)
      : from_(tensors.inputs.at(0).as<const float>()),
        classes_(tensors.outputs.at(0).as<std::int64_t>()),
        values_(tensors.outputs.at(1).as<float>()),
        rows_(tensors.outputs.at(0).type.shape.elements()),
        extent_(tensors.inputs.at(0).type.shape.elements() / rows_) {}

  std::string_view name() const noexcept override { return "arg_max"; }

  void run() override {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows_; ++row) {
      nn::greatest found;
      for (std::int64_t i = 0; i < extent_; ++i) {
        found += {from_[row * extent_ + i], static_cast<std::int32_t>(i)};
      }
      classes_[row] = found.index;
      values_[row] = found.value;
    }
  }

 private:
  const float* from_;
  std::int64_t* classes_;
  float* values_;
  std::int64_t rows_;
  std::int64_t extent_;
};

class arg_max_stage final : public device_stage {
 public:
  std::vector<stage_part> parts() const override { return {{"arg_max", "a loop over rows"}}; }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return one_part([operation = std::make_unique<arg_max_operation>(tensors)](stream& s) {
      host_enqueue(s, *operation);
    });
  }
};

}  // namespace

std::unique_ptr<device_stage> make_host_arg_max(device& /*d*/, const stage_config& /*config*/) {
  return std::make_unique<arg_max_stage>();
}

}  // namespace graphline
