#include <fmt/format.h>

#include <algorithm>
#include <dnnl.hpp>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
#include "stages/matmul.hpp"
#include "stages/onednn/onednn_operation.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {

namespace {

/// A packed tensor of these extents; `transpose`d, its last two are stored the other way around.
dnnl::memory::desc layout_of(const shape& extents, bool transpose) {
  if (!transpose) return plain_layout(extents);
  std::vector<std::int64_t> stored = extents.extents();
  const std::size_t rank = stored.size();
  std::swap(stored[rank - 1], stored[rank - 2]);
  std::vector<int> order(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) order[axis] = static_cast<int>(axis);
  std::swap(order[rank - 1], order[rank - 2]);
  return plain_layout(shape(std::move(stored))).permute_axes(order);
}

class matmul_work final : public one_part_work {
 public:
  matmul_work(std::string name, std::string owner, const dnnl::primitive& primitive,
              const std::vector<onednn_argument>& operands)
      : operation_(std::move(name), std::move(owner), primitive, operands) {}

  void enqueue(stream& s) override { host_enqueue(s, operation_); }

 private:
  onednn_operation operation_;
};

class matmul_stage final : public device_stage {
 public:
  matmul_stage(device& d, const matmul_form& form, const char* kind, const stage_config& config)
      : kind_(kind),
        owner_(fmt::format("stage '{}'", config.name)),
        asked_(precision_of(config.arguments)),
        cost_(cost_of(form)) {
    host_call(d, [&] {
      try {
        const dnnl::matmul::desc wanted(layout_of(form.a, form.transpose_a),
                                        layout_of(form.b, form.transpose_b), plain_layout(form.c));
        chosen_ = dnnl::matmul::primitive_desc(wanted, onednn_attributes(), onednn_engine());
        primitive_ = dnnl::matmul(chosen_);
      } catch (const dnnl::error& e) {
        throw run_error(fmt::format("{}: oneDNN cannot prepare {} to {}: {} ({})", owner_, kind_,
                                    to_string(form.c), e.what(), describe_status(e.status)));
      }
    });
  }

  std::size_t scratch_bytes() const override { return chosen_.scratchpad_desc().get_size(); }

  std::vector<stage_part> parts() const override {
    std::string choice = "oneDNN " + operation_name(kind_, chosen_);
    if (asked_ != precision::float32) {
      choice += fmt::format("; in float32, host has no {}", to_word(asked_));
    }
    return {{kind_, std::move(choice), cost_}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    std::vector<onednn_argument> operands{
        {DNNL_ARG_SRC, chosen_.src_desc(), tensors.inputs.at(0).data},
        {DNNL_ARG_WEIGHTS, chosen_.weights_desc(), tensors.inputs.at(1).data},
        {DNNL_ARG_DST, chosen_.dst_desc(), tensors.outputs.at(0).data}};
    if (scratch_bytes() > 0) {
      operands.push_back({DNNL_ARG_SCRATCHPAD, chosen_.scratchpad_desc(), tensors.scratch});
    }
    return std::make_unique<matmul_work>(operation_name(kind_, chosen_), owner_, primitive_,
                                         operands);
  }

 private:
  std::string kind_;
  std::string owner_;
  precision asked_;
  cost cost_;
  dnnl::matmul::primitive_desc chosen_;
  dnnl::matmul primitive_;
};

}  // namespace

std::unique_ptr<device_stage> make_matmul_host(device& d, const stage_config& config) {
  diagnostics problems;
  const auto form = matmul_of(config.arguments, config.inputs, problems);
  problems.throw_if_errors();
  return make_product_host(d, *form, "matmul", config);
}

std::unique_ptr<device_stage> make_product_host(device& d, const matmul_form& form,
                                                const char* kind, const stage_config& config) {
  return std::make_unique<matmul_stage>(d, form, kind, config);
}

}  // namespace graphline
