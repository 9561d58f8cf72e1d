#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "stages/cuda/kernel_forms.hpp"
#include "stages/gemv/gemv.hpp"
#include "stages/kinds.hpp"
#include "stages/matmul_cuda.hpp"

namespace graphline {

namespace {

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
    const std::array<void*, 3> all{tensors.inputs.at(0).data, tensors.inputs.at(1).data,
                                   tensors.outputs.at(0).data};
    if (!split_) {
      return one_part([all, form = kernel_form(form_), &owner = owner_](stream& s) {
        enqueue_kernel(form, all, s.native(), owner);
      });
    }
    const std::array<void*, 3> first{all[0], all[1], tensors.scratch};
    const std::array<void*, 3> then{tensors.scratch, nullptr, all[2]};
    return one_part([first, then, pieces = kernel_form(split_->pieces),
                     sums = kernel_form(split_->sums), &owner = owner_](stream& s) {
      enqueue_kernel(pieces, first, s.native(), owner);
      enqueue_kernel(sums, then, s.native(), owner);
    });
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
