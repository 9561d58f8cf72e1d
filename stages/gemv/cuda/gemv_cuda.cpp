#include "stages/cuda/cuda_kinds.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/cuda/kernel_forms.hpp"
#include "stages/gemv/gemv.hpp"
#include "stages/kinds.hpp"
#include "stages/matmul_cuda.hpp"

namespace graphline {

namespace {

/// A kernel on its operands: a, x, y.
struct bound_kernel {
  kernel_form form;
  std::array<void*, 3> operands{};
};

class gemv_work final : public one_part_work {
 public:
  gemv_work(const std::string& owner, std::vector<bound_kernel> kernels)
      : owner_(owner), kernels_(std::move(kernels)) {}

  void enqueue(stream& s) override {
    for (const bound_kernel& kernel : kernels_) {
      enqueue_kernel(kernel.form, kernel.operands, s.native(), owner_);
    }
  }

 private:
  const std::string& owner_;
  std::vector<bound_kernel> kernels_;
};

class fused_gemv_stage final : public device_stage {
 public:
  fused_gemv_stage(const matmul_form& product, const std::string& name)
      : owner_(fmt::format("stage '{}'", name)),
        form_(collapse_rows(product)),
        split_(split_long_rows(form_)),
        cost_(cost_of(product)) {}

  std::size_t scratch_bytes() const override {
    return split_ ? static_cast<std::size_t>(split_->piece_count()) * sizeof(float) : 0;
  }

  std::vector<stage_part> parts() const override {
    std::string choice = "a kernel of its own";
    if (split_) choice += fmt::format(", rows in {} pieces", split_->sums.k);
    return {{"gemv", std::move(choice), cost_}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    void* const a = tensors.inputs.at(0).data;
    void* const x = tensors.inputs.at(1).data;
    void* const y = tensors.outputs.at(0).data;
    std::vector<bound_kernel> kernels;
    if (split_) {
      kernels.push_back({split_->pieces, {a, x, tensors.scratch}});
      kernels.push_back({split_->sums, {tensors.scratch, nullptr, y}});
    } else {
      kernels.push_back({form_, {a, x, y}});
    }
    return std::make_unique<gemv_work>(owner_, std::move(kernels));
  }

 private:
  std::string owner_;
  gemv_form form_;
  std::optional<split_gemv> split_;
  cost cost_;
};

}  // namespace

std::unique_ptr<device_stage> make_gemv_cuda(device& d, const stage_config& config) {
  const matmul_form product = gemv_of(config);
  if (!fused_of(config.arguments)) return make_product_cuda(d, product, "gemv", config);
  return std::make_unique<fused_gemv_stage>(product, config.name);
}

}  // namespace graphline
