#include "stages/matmul_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/kernel_forms.hpp"
#include "stages/kinds.hpp"
#include "stages/matmul.hpp"
#include "stages/network/program_buffers.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// A leading dimension: its extent and how far apart neighbours are, 0 where broadcast.
struct batch_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t d = 0;
};

/// A product of matrices and the dimensions along which it is repeated, outermost first.
struct repeated_product {
  product_form form;
  std::vector<batch_axis> axes;
};

/// The leading dimensions, without those of extent 1 and with neighbours merged that are one run in
/// all three tensors.
std::vector<batch_axis> axes_of(const matmul_form& form) {
  const std::size_t rank = form.c.rank();
  std::vector<batch_axis> axes;  // innermost first
  std::int64_t a = form.a[rank - 2] * form.a[rank - 1];
  std::int64_t b = form.b[rank - 2] * form.b[rank - 1];
  std::int64_t d = form.c[rank - 2] * form.c[rank - 1];
  for (std::size_t i = rank - 2; i-- > 0;) {
    const batch_axis axis{form.c[i], form.a[i] == 1 ? 0 : a, form.b[i] == 1 ? 0 : b, d};
    a *= form.a[i];
    b *= form.b[i];
    d *= form.c[i];
    if (axis.extent == 1) continue;
    if (!axes.empty()) {
      batch_axis& inner = axes.back();
      const auto continues = [&](std::int64_t batch_axis::*stride) {
        return axis.*stride == inner.*stride * inner.extent;
      };
      if (continues(&batch_axis::a) && continues(&batch_axis::b) && continues(&batch_axis::d)) {
        inner.extent *= axis.extent;
        continue;
      }
    }
    axes.push_back(axis);
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

repeated_product repeated(const matmul_form& given, precision p) {
  const std::size_t rank = given.c.rank();
  product_form form{
      .m = given.c[rank - 2], .n = given.c[rank - 1], .k = given.a[rank - 1], .precision = p};
  // A vector is the same memory whether transposed or not.
  form.transpose_a = given.transpose_a && form.m > 1 && form.k > 1;
  form.transpose_b = given.transpose_b && form.n > 1 && form.k > 1;
  form.a_leading = form.transpose_a ? form.m : form.k;
  form.b_leading = form.transpose_b ? form.k : form.n;
  form.d_leading = form.n;
  return {form, axes_of(given)};
}

/// d^T = b^T a^T; where d has one row or one column, its transpose is the same memory.
repeated_product transposed(const repeated_product& given) {
  repeated_product result = given;
  product_form& form = result.form;
  std::swap(form.m, form.n);
  form.transpose_a = !given.form.transpose_b && form.m > 1 && form.k > 1;
  form.transpose_b = !given.form.transpose_a && form.n > 1 && form.k > 1;
  form.a_leading = form.transpose_a ? form.m : form.k;
  form.b_leading = form.transpose_b ? form.k : form.n;
  form.d_leading = form.n;
  for (batch_axis& axis : result.axes) std::swap(axis.a, axis.b);
  return result;
}

/// Makes an axis along which b is broadcast part of m, if rows are then still evenly apart.
bool merge_into_rows(product_form& form, const batch_axis& axis) {
  if (axis.b != 0 || form.transpose_a) return false;
  const bool follows = axis.a == form.m * form.a_leading && axis.d == form.m * form.d_leading;
  if (form.m > 1 && !follows) return false;
  if (form.m == 1) {
    form.a_leading = axis.a;
    form.d_leading = axis.d;
  }
  form.m *= axis.extent;
  return true;
}

/// What divides the beginning of every operand of every call, if tensors begin at multiples of 16
/// bytes.
std::size_t alignment_of(const std::vector<product_offsets>& calls, std::size_t bytes) {
  std::size_t divides = 16;
  for (const product_offsets& call : calls) {
    for (const std::int64_t offset : {call.a, call.b, call.d}) {
      while (static_cast<std::size_t>(offset) * bytes % divides != 0) divides /= 2;
    }
  }
  return divides;
}

product_calls collapsed(repeated_product product) {
  product_form& form = product.form;
  std::vector<batch_axis>& axes = product.axes;
  // A single row takes any axis, of which the longest saves most; after it, only what continues it.
  std::vector<std::size_t> order(axes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  if (form.m == 1) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return axes[x].extent > axes[y].extent; });
  }
  for (const std::size_t i : order) {
    if (merge_into_rows(form, axes[i])) axes[i].extent = 1;
  }
  std::erase_if(axes, [](const batch_axis& axis) { return axis.extent == 1; });

  const auto longest = std::max_element(
      axes.begin(), axes.end(),
      [](const batch_axis& x, const batch_axis& y) { return x.extent < y.extent; });
  if (longest != axes.end()) {
    form.batch = longest->extent;
    form.a_stride = longest->a;
    form.b_stride = longest->b;
    form.d_stride = longest->d;
    axes.erase(longest);
  }

  product_calls result{.form = form, .calls = {product_offsets{}}};
  for (const batch_axis& axis : axes) {
    std::vector<product_offsets> all;
    for (const product_offsets& first : result.calls) {
      for (std::int64_t i = 0; i < axis.extent; ++i) {
        all.push_back({first.a + i * axis.a, first.b + i * axis.b, first.d + i * axis.d});
      }
    }
    result.calls = std::move(all);
  }
  result.form.alignment = alignment_of(result.calls, element_bytes(form.precision));
  return result;
}

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

class matmul_work final : public one_part_work {
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

product_calls collapse_product(const matmul_form& form, precision p) {
  const repeated_product direct = repeated(form, p);
  product_calls best = collapsed(direct);
  if (direct.form.m > 1 && direct.form.n > 1) return best;
  product_calls other = collapsed(transposed(direct));
  other.swapped = true;
  const bool fewer = other.calls.size() < best.calls.size();
  const bool larger = other.calls.size() == best.calls.size() && other.form.batch < best.form.batch;
  return fewer || larger ? other : best;
}

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
