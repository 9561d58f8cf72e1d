#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "stages/network/host/lowering.hpp"
#include "stages/network/windows.hpp"

namespace graphline {
namespace {

/// Means over windows of [planes, height, width], packed. For the pools oneDNN has not: adaptive
/// ones whose sizes do not divide, and average pools whose last window in ceil_mode leaves the
/// padding.
struct windowed_average {
  std::int64_t planes = 0;  ///< batch times channels
  std::int64_t height = 0;  ///< of the input
  std::int64_t width = 0;
  std::vector<window> rows;     ///< per row of the output
  std::vector<window> columns;  ///< per column of the output
};

/// Planes are shared among the compute threads.
class windowed_average_operation final : public host_operation {
 public:
  windowed_average_operation(std::string name, windowed_average windows, const float* from,
                             float* to)
      : name_(std::move(name)), windows_(std::move(windows)), from_(from), to_(to) {}

  std::string_view name() const noexcept override { return name_; }

  void run() override {
    const std::int64_t in_plane = windows_.height * windows_.width;
    const auto out_plane =
        static_cast<std::int64_t>(windows_.rows.size() * windows_.columns.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t plane = 0; plane < windows_.planes; ++plane) {
      average_plane(from_ + plane * in_plane, to_ + plane * out_plane);
    }
  }

 private:
  void average_plane(const float* from, float* to) const {
    for (const window& row : windows_.rows) {
      for (const window& column : windows_.columns) {
        double sum = 0;
        for (std::int64_t y = row.begin; y < row.end; ++y) {
          const float* line = from + y * windows_.width;
          for (std::int64_t x = column.begin; x < column.end; ++x) {
            sum += static_cast<double>(line[x]);
          }
        }
        *to++ = static_cast<float>(sum / static_cast<double>(row.divisor * column.divisor));
      }
    }
  }

  std::string name_;
  windowed_average windows_;
  const float* from_;
  float* to_;
};

/// A pool in oneDNN's terms.
struct pool_form {
  dnnl::algorithm algorithm;
  extent_pair kernel{};
  extent_pair stride{};
  extent_pair dilation{1, 1};
  extent_pair padding_before{0, 0};
  extent_pair padding_after{0, 0};
};

using pooling_forward = dnnl::pooling_v2_forward;

pooling_forward::primitive_desc choose_pool(program_builder& b, std::size_t index,
                                            const pool_form& form) {
  const auto dims = [](const extent_pair& pair) { return dnnl::memory::dims{pair[0], pair[1]}; };
  const network_layer& layer = b.layer(index);
  const pooling_forward::desc wanted(dnnl::prop_kind::forward_inference, form.algorithm,
                                     b.input_of(layer).layout, any_layout(b.output_shape(layer)),
                                     dims(form.stride), dims(form.kernel),
                                     {form.dilation[0] - 1, form.dilation[1] - 1},
                                     dims(form.padding_before), dims(form.padding_after));
  return {wanted, onednn_attributes(), onednn_engine()};
}

void add_pool(program_builder& b, std::size_t index,
              const pooling_forward::primitive_desc& chosen) {
  const program_tensor source = b.input_of(b.layer(index));
  b.add_layer<pooling_forward>(index, source, chosen);
}

void lower_to_windows(program_builder& b, std::size_t index, std::vector<window> rows,
                      std::vector<window> columns) {
  const network_layer& layer = b.layer(index);
  const shape& in = b.input_shape(layer);
  const windowed_average windows{in[0] * in[1], in[2], in[3], std::move(rows), std::move(columns)};
  const program_tensor source = b.in_layout(b.input_of(layer), plain_layout(in), layer);
  const program_tensor result = b.make_tensor(plain_layout(b.output_shape(layer)));
  const std::string name = fmt::format("{} [windows]", layer.kind);
  b.add_step({name,
              {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}},
              [name, windows](const std::vector<onednn_argument>& arguments) {
                return std::make_unique<windowed_average_operation>(
                    name, windows, static_cast<const float*>(arguments[0].data),
                    static_cast<float*>(arguments[1].data));
              }});
  b.set_output(index, result);
}

}  // namespace

void lower(program_builder& b, const fused_layers& group, const pool2d_layer& pool) {
  const network_layer& layer = b.layer(group.head);
  const shape& in = b.input_shape(layer);
  const shape& out = b.output_shape(layer);
  const bool average = pool.method == pooling::average;

  // In ceil_mode the last window may reach beyond the padding: more padding after, for oneDNN.
  const extent_pair stated_after = pool.padding_after.value_or(pool.padding);
  extent_pair after = stated_after;
  bool beyond = false;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t covered = pool.dilation[axis] * (pool.kernel[axis] - 1) + 1;
    const std::int64_t end = (out[axis + 2] - 1) * pool.stride[axis] + covered;
    const std::int64_t needed = end - in[axis + 2] - pool.padding[axis];
    if (needed > after[axis]) {
      after[axis] = needed;
      beyond = true;
    }
  }
  // There PyTorch counts only the stated padding in the mean, oneDNN the whole window.
  if (average && pool.count_include_pad && beyond) {
    const auto windows_along = [&](std::size_t axis) {
      std::vector<window> windows;
      for (std::int64_t i = 0; i < out[axis + 2]; ++i) {
        windows.push_back(strided_window(i, in[axis + 2], pool.kernel[axis], pool.stride[axis],
                                         pool.padding[axis], stated_after[axis],
                                         /*count_include_pad=*/true));
      }
      return windows;
    };
    lower_to_windows(b, group.head, windows_along(0), windows_along(1));
    return;
  }
  const auto averaging = pool.count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                                : dnnl::algorithm::pooling_avg_exclude_padding;
  add_pool(b, group.head,
           choose_pool(b, group.head,
                       {average ? averaging : dnnl::algorithm::pooling_max, pool.kernel,
                        pool.stride, pool.dilation, pool.padding, after}));
}

void lower(program_builder& b, const fused_layers& group, const adaptive_avg_pool2d_layer& pool) {
  const shape& in = b.input_shape(b.layer(group.head));
  if (in[2] % pool.output[0] == 0 && in[3] % pool.output[1] == 0) {
    const extent_pair tile{in[2] / pool.output[0], in[3] / pool.output[1]};
    const auto chosen =
        choose_pool(b, group.head, {dnnl::algorithm::pooling_avg_exclude_padding, tile, tile});
    // Where oneDNN's code is for any layout it takes three times as long as ours for whole planes.
    const bool compiled = std::string_view(chosen.impl_info_str()).starts_with("jit");
    if (!compiled && pool.output == extent_pair{1, 1}) return lower_plane_means(b, group.head);
    return add_pool(b, group.head, chosen);
  }
  const auto windows_along = [&](std::size_t axis) {
    std::vector<window> windows;
    for (std::int64_t i = 0; i < pool.output[axis]; ++i) {
      windows.push_back(adaptive_window(i, in[axis + 2], pool.output[axis]));
    }
    return windows;
  };
  lower_to_windows(b, group.head, windows_along(0), windows_along(1));
}

}  // namespace graphline
