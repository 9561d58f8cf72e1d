#include "stages/matmul_cuda.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/cuda/cuda_libraries.hpp"
#include "stages/cuda/kernels.hpp"
#include "stages/matmul.hpp"
#include "stages/matmul_products_cuda.hpp"
#include "stages/network/scratch_layout.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {

namespace {

/// Bytes on from an address.
void* advanced(void* from, std::int64_t elements, std::size_t element_bytes) {
  return static_cast<std::byte*>(from) + static_cast<std::size_t>(elements) * element_bytes;
}

/// A kernel with its two operands; none for a count of 0.
struct bound_conversion {
  kernel_form form;
  std::array<void*, 2> operands{};
};

using product_operands = std::array<void*, 3>;

class matmul_work final : public device_work {
 public:
  matmul_work(const std::string& owner, library_operation& product,
              std::vector<product_operands> calls, void* workspace,
              std::vector<bound_conversion> before, std::vector<bound_conversion> after)
      : owner_(owner),
        product_(product),
        calls_(std::move(calls)),
        workspace_(workspace),
        before_(std::move(before)),
        after_(std::move(after)) {}

  void enqueue(stream& s) override {
    for (const bound_conversion& c : before_)
      enqueue_kernel(c.form, c.operands, s.native(), owner_);
    for (const product_operands& call : calls_) product_.enqueue(s.native(), call, workspace_);
    for (const bound_conversion& c : after_) enqueue_kernel(c.form, c.operands, s.native(), owner_);
  }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    enqueue(s);
    marker.part_enqueued(s);
  }

 private:
  const std::string& owner_;
  library_operation& product_;
  std::vector<product_operands> calls_;
  void* workspace_;
  std::vector<bound_conversion> before_;
  std::vector<bound_conversion> after_;
};

class matmul_stage final : public device_stage {
 public:
  matmul_stage(device& d, const matmul_form& form, const char* kind, const stage_config& config)
      : kind_(kind),
        owner_(fmt::format("stage '{}'", config.name)),
        precision_(precision_of(config.arguments)),
        library_(open_cuda_libraries(d, tune_of(config.arguments), owner_)),
        calls_(collapse_product(form, precision_)),
        elements_{form.a.elements(), form.b.elements(), form.c.elements()},
        cost_(cost_of(form)) {
    std::string why_not;
    product_ = library_->plan(calls_.form, why_not);
    if (product_ == nullptr) {
      throw run_error(
          fmt::format("{}: no implementation in {} for {} to {}: {}; another {} may have one",
                      owner_, to_word(precision_), kind_, to_string(form.c), why_not,
                      config.arguments.has("precision") ? "'precision'" : "'method'"));
    }
    // The three tensors as other elements and the workspace, all in use at once.
    std::vector<scratch_block> blocks;
    for (const std::int64_t elements : elements_) {
      const auto bytes = static_cast<std::size_t>(elements) * element_bytes(precision_);
      blocks.push_back({converts() ? bytes : 0, 0, 0});
    }
    blocks.push_back({product_->workspace_bytes(), 0, 0});
    scratch_ = lay_out_scratch(blocks);
  }

  std::size_t scratch_bytes() const override { return scratch_.bytes; }

  std::vector<stage_part> parts() const override {
    std::string choice = product_->choice();
    if (calls_.calls.size() > 1)
      choice = fmt::format("{} calls of {}", calls_.calls.size(), choice);
    if (converts()) choice += fmt::format("; conversions to and from {}", to_word(precision_));
    return {{kind_, std::move(choice), cost_, precision_}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    std::array<void*, 3> data{tensors.inputs.at(0).data, tensors.inputs.at(1).data,
                              tensors.outputs.at(0).data};
    std::vector<bound_conversion> before;
    std::vector<bound_conversion> after;
    if (converts()) {
      for (std::size_t i = 0; i < data.size(); ++i) {
        void* const converted = at(tensors, i);
        (i < 2 ? before : after).push_back(conversion(i, data[i], converted));
        data[i] = converted;
      }
    }
    std::vector<product_operands> calls;
    for (const product_offsets& offsets : calls_.calls) {
      const std::size_t bytes = element_bytes(precision_);
      calls.push_back({advanced(data[calls_.swapped ? 1 : 0], offsets.a, bytes),
                       advanced(data[calls_.swapped ? 0 : 1], offsets.b, bytes),
                       advanced(data[2], offsets.d, bytes)});
    }
    return std::make_unique<matmul_work>(owner_, *product_, std::move(calls), at(tensors, 3),
                                         std::move(before), std::move(after));
  }

 private:
  bool converts() const { return element_of(precision_) != dtype::float32; }

  void* at(const stage_tensors& tensors, std::size_t block) const {
    return static_cast<std::byte*>(tensors.scratch) + scratch_.offsets[block];
  }

  /// To the precision's elements for what is read, from them for what is written.
  bound_conversion conversion(std::size_t tensor, void* given, void* converted) const {
    const bool written = tensor == 2;
    convert_form form{.from = written ? element_of(precision_) : dtype::float32,
                      .to = written ? dtype::float32 : element_of(precision_)};
    form.rows = form.padded_rows = elements_[tensor];
    if (written) std::swap(given, converted);
    return {form, {given, converted}};
  }

  std::string kind_;
  std::string owner_;
  precision precision_;
  std::unique_ptr<cuda_library> library_;  // outlives the operation that it planned
  product_calls calls_;
  std::array<std::int64_t, 3> elements_;
  cost cost_;
  std::unique_ptr<library_operation> product_;
  scratch_layout scratch_;
};

}  // namespace

std::unique_ptr<device_stage> make_matmul_cuda(device& d, const stage_config& config) {
  diagnostics problems;
  const auto form = matmul_of(config.arguments, config.inputs, problems);
  problems.throw_if_errors();
  return make_product_cuda(d, *form, "matmul", config);
}

std::unique_ptr<device_stage> make_product_cuda(device& d, const matmul_form& form,
                                                const char* kind, const stage_config& config) {
  return std::make_unique<matmul_stage>(d, form, kind, config);
}

}  // namespace graphline
