#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <string>

#include "framework/device/host/host_device.hpp"
#include "stages/gemv/gemv.hpp"
#include "stages/gemv/host/gemv_loops.hpp"
#include "stages/kinds.hpp"

namespace graphline {

namespace {

/// The loops on their operands, shared among the compute threads.
class gemv_operation final : public host_operation {
 public:
  gemv_operation(gemv_form form, const gemv_code& code, const float* a, const float* x, float* y,
                 float* sums)
      : form_(std::move(form)),
        pieces_(pieces_of(form_)),
        rows_(form_.rows()),
        code_(code),
        name_(fmt::format("gemv [fused, {}]", code.instructions)),
        a_(a),
        x_(x),
        y_(y),
        sums_(sums) {}

  std::string_view name() const noexcept override { return name_; }

  void run() override {
    // Less than waking a thread takes is done by one.
    constexpr std::int64_t few_elements = 16384;
    const std::int64_t all = rows_ * pieces_.count;
    float* const to = pieces_.count == 1 ? y_ : sums_;
#pragma omp parallel if (rows_ > few_elements / form_.k)
    {
      const std::int64_t threads = omp_get_num_threads();
      const std::int64_t mine = omp_get_thread_num();
      code_.loop(form_, a_, x_, to, share(all, mine, threads), share(all, mine + 1, threads));
    }
    if (pieces_.count > 1) add_pieces();
  }

 private:
  static std::int64_t share(std::int64_t all, std::int64_t part, std::int64_t parts) {
    return all / parts * part + all % parts * part / parts;
  }

  void add_pieces() {
    for (std::int64_t row = 0; row < rows_; ++row) {
      double sum = 0;
      for (std::int64_t i = row; i < rows_ * pieces_.count; i += rows_) {
        sum += static_cast<double>(sums_[i]);
      }
      y_[row] = static_cast<float>(sum);
    }
  }

  gemv_form form_;
  gemv_pieces pieces_;
  std::int64_t rows_;
  gemv_code code_;
  std::string name_;
  const float* a_;
  const float* x_;
  float* y_;
  float* sums_;
};

class fused_gemv_stage final : public device_stage {
 public:
  explicit fused_gemv_stage(const matmul_form& product)
      : form_(collapse_rows(product)), cost_(cost_of(product)), code_(gemv_codes().front()) {}

  std::size_t scratch_bytes() const override {
    const std::int64_t pieces = pieces_of(form_).count;
    return pieces == 1 ? 0 : static_cast<std::size_t>(pieces * form_.rows()) * sizeof(float);
  }

  std::vector<stage_part> parts() const override {
    return {{"gemv", fmt::format("loops of its own, {}", code_.instructions), cost_}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return one_part(
        [made = std::make_unique<gemv_operation>(
             form_, code_, tensors.inputs.at(0).as<const float>(),
             tensors.inputs.at(1).as<const float>(), tensors.outputs.at(0).as<float>(),
             static_cast<float*>(tensors.scratch))](stream& s) { host_enqueue(s, *made); });
  }

 private:
  gemv_form form_;
  cost cost_;
  gemv_code code_;
};

}  // namespace

std::unique_ptr<device_stage> make_gemv_host(device& d, const stage_config& config) {
  const matmul_form product = gemv_of(config);
  if (!fused_of(config.arguments)) return make_product_host(d, product, "gemv", config);
  return std::make_unique<fused_gemv_stage>(product);
}

}  // namespace graphline
