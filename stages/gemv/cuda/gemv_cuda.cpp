#include "stages/gemv/cuda/gemv_cuda.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "stages/cuda/kernels.hpp"
#include "stages/gemv/gemv.hpp"
#include "stages/gemv/gemv_form.hpp"
#include "stages/matmul_cuda.hpp"

namespace graphline {

namespace {

class gemv_work final : public device_work {
 public:
  gemv_work(const std::string& owner, const kernel_form& form, std::array<void*, 3> operands)
      : owner_(owner), form_(form), operands_(operands) {}

  void enqueue(stream& s) override { enqueue_kernel(form_, operands_, s.native(), owner_); }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    enqueue(s);
    marker.part_enqueued(s);
  }

 private:
  const std::string& owner_;
  const kernel_form& form_;
  std::array<void*, 3> operands_;
};

class fused_gemv_stage final : public device_stage {
 public:
  fused_gemv_stage(const matmul_form& product, const std::string& name)
      : owner_(fmt::format("stage '{}'", name)),
        form_(collapse_rows(product)),
        cost_(cost_of(product)) {}

  std::vector<stage_part> parts() const override {
    return {{"gemv", "a kernel of its own", cost_}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<gemv_work>(
        owner_, form_,
        std::array<void*, 3>{tensors.inputs.at(0).data, tensors.inputs.at(1).data,
                             tensors.outputs.at(0).data});
  }

 private:
  std::string owner_;
  kernel_form form_;
  cost cost_;
};

}  // namespace

std::unique_ptr<device_stage> make_gemv_cuda(device& d, const stage_config& config) {
  const matmul_form product = gemv_of(config);
  if (!fused_of(config.arguments)) return make_product_cuda(d, product, "gemv", config);
  return std::make_unique<fused_gemv_stage>(product, config.name);
}

}  // namespace graphline
