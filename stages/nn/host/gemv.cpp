#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "stages/nn/host/gemv_loops.hpp"
#include "stages/nn/host/single_products.hpp"
#include "stages/nn/operations/gemv.hpp"

namespace graphline::nn {

namespace {

/// A gemv bound to its operands. The compute threads share its rows and pieces.
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
    // With fewer elements, waking threads takes longer than the work.
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

}  // namespace

host_program lower_gemv_for_host(const matmul_form& product) {
  const gemv_form form = collapse_rows(product);
  const gemv_code code = gemv_codes().front();
  const std::int64_t pieces = pieces_of(form).count;
  host_program made;
  const auto operand = [&](int role, buffer_place place, std::int64_t elements,
                           std::size_t tensor = 0) {
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
    return host_operand{role, {made.add_buffer(place, bytes, tensor), {}}};
  };
  std::vector<host_operand> operands{
      operand(DNNL_ARG_SRC, buffer_place::input, product.a.elements(), 0),
      operand(DNNL_ARG_WEIGHTS, buffer_place::input, product.b.elements(), 1),
      operand(DNNL_ARG_DST, buffer_place::output, product.c.elements())};
  if (pieces > 1) {
    operands.push_back(operand(DNNL_ARG_SCRATCHPAD, buffer_place::scratch, pieces * form.rows()));
  }
  made.steps.push_back(
      {"gemv", std::move(operands), [form, code](const std::vector<onednn_argument>& given) {
         const auto data = [&](std::size_t i) { return static_cast<float*>(given[i].data); };
         return std::make_unique<gemv_operation>(form, code, data(0), data(1), data(2),
                                                 given.size() > 3 ? data(3) : nullptr);
       }});
  made.parts = {{"gemv", fmt::format("loops of its own, {}", code.instructions), cost_of(product),
                 made.steps.size()}};
  made.place_buffers();
  return made;
}

}  // namespace graphline::nn
