#include "stages/cuda/cuda_kinds.hpp"

#include <fmt/format.h>

#include <array>

#include "stages/cuda/kernel_forms.hpp"
#include "stages/kinds.hpp"
#include "stages/traffic.hpp"

namespace graphline {

namespace {

class copy_work final : public one_part_work {
 public:
  explicit copy_work(const stage_tensors& tensors)
      : from_(tensors.inputs.at(0)), to_(tensors.outputs.at(0)) {}

  void enqueue(stream& s) override { s.copy(to_.data, from_.data, from_.type.bytes()); }

 private:
  tensor_view from_;
  tensor_view to_;
};

class write_work final : public one_part_work {
 public:
  explicit write_work(const stage_tensors& tensors) : to_(tensors.outputs.at(0)) {}

  void enqueue(stream& s) override { s.fill(to_.data, std::byte{0}, to_.type.bytes()); }

 private:
  tensor_view to_;
};

class read_work final : public one_part_work {
 public:
  read_work(const sum_form& form, const stage_tensors& tensors, const std::string& owner)
      : form_(form),
        operands_{tensors.inputs.at(0).data, tensors.scratch, tensors.outputs.at(0).data},
        owner_(owner) {}

  void enqueue(stream& s) override { enqueue_kernel(form_, operands_, s.native(), owner_); }

 private:
  kernel_form form_;
  std::array<void*, 3> operands_;
  const std::string& owner_;
};

class traffic_stage final : public device_stage {
 public:
  explicit traffic_stage(const stage_config& config)
      : owner_(fmt::format("stage '{}'", config.name)),
        method_(traffic_method_of(config.arguments)),
        form_{config.inputs.at(0).shape.elements()} {}

  std::size_t scratch_bytes() const override {
    if (method_ != traffic_method::read) return 0;
    return static_cast<std::size_t>(pieces_of(form_)) * sizeof(float);
  }

  std::vector<stage_part> parts() const override {
    const cost amount = traffic_cost(method_, form_.count);
    if (method_ == traffic_method::copy) return {{"copy", "the runtime's copy", amount}};
    if (method_ == traffic_method::write) return {{"write", "the runtime's fill", amount}};
    return {{"read", "sum kernel", amount}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    if (method_ == traffic_method::copy) return std::make_unique<copy_work>(tensors);
    if (method_ == traffic_method::write) return std::make_unique<write_work>(tensors);
    return std::make_unique<read_work>(form_, tensors, owner_);
  }

 private:
  std::string owner_;
  traffic_method method_;
  sum_form form_;
};

}  // namespace

std::unique_ptr<device_stage> make_traffic_cuda(device& /*d*/, const stage_config& config) {
  return std::make_unique<traffic_stage>(config);
}

}  // namespace graphline
