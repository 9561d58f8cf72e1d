#include <omp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "stages/nn/host/element_wise.hpp"
#include "stages/nn/host/lowering.hpp"
#include "stages/nn/operations/greatest.hpp"
#include "stages/nn/operations/indexed_places.hpp"
#include "stages/nn/operations/movements.hpp"
#include "stages/nn/operations/scalar_math.hpp"
#include "stages/nn/operations/suppression.hpp"
#include "stages/nn/operations/windows.hpp"
#include "stages/nn/weights/float_conversion.hpp"

namespace graphline::nn {
namespace {

void copy_part(host_lowering& b, const layer_group& group, const strided_part& part) {
  const network_layer& layer = b.layer(group.head);
  const shape& out = b.output_shape(layer);
  const host_value from = b.plain_input_of(layer);
  const host_value to = b.make_tensor(plain_layout(out));
  add_copy(b, layer.kind, out, from, part, to, {0, packed_strides(out)});
  b.set_output(group.head, to);
}

/// Returns the layout of [N, C, L] or [N, C, H, W] in which the channels of a pixel are adjacent.
dnnl::memory::desc channels_last(const shape& s) {
  using tag = dnnl::memory::format_tag;
  return {s.extents(), dnnl::memory::data_type::f32, s.rank() == 3 ? tag::acb : tag::acdb};
}

/// Returns true if a layer views [N, C, H, W] as [N, C, H * W], or the other way round.
bool reshapes_planes(const network_definition& network, const network_layer& layer) {
  if (!std::holds_alternative<reshape_layer>(layer.operation)) return false;
  const shape& in = network.input_of(layer);
  const shape& out = network.output_of(layer);
  return in.rank() + out.rank() == 7 && std::min(in.rank(), out.rank()) == 3 && in[0] == out[0] &&
         in[1] == out[1];
}

/// Returns the layer that alone reads the output of another; null if there is more than one reader.
const network_layer* only_reader(const network_definition& network, const network_layer& of) {
  const std::size_t value = of.outputs.front();
  if (reads_of_values(network)[value] != 1) return nullptr;
  for (const network_layer& layer : network.layers) {
    if (std::ranges::find(layer.inputs, value) != layer.inputs.end()) return &layer;
  }
  return nullptr;  // an output of the network
}

/// Returns the number of elements in memory before, along and after a dimension.
axis_extents along(const shape& s, std::size_t axis, std::int64_t block) {
  if (block == all_channels) return {.outer = s[0] * s[2] * s[3], .extent = s[1]};
  return extents_along(s.extents(), axis);
}

/// Returns the extents of a layer's first input along an axis.
axis_extents axis_of(host_lowering& b, const layer_group& group, std::size_t axis) {
  return extents_along(b.input_shape(b.layer(group.head)).extents(), axis);
}

/// Returns the channel block of the largest input if all inputs consist of whole blocks; otherwise
/// 1.
std::int64_t block_of_parts(host_lowering& b, const network_layer& head,
                            const concat_layer& concat) {
  if (concat.axis != 1) return 1;
  std::int64_t block = 1;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < head.inputs.size(); ++i) {
    const std::int64_t elements = b.network().shape_of(head.inputs[i]).elements();
    if (elements <= most) continue;
    most = elements;
    block = channel_block(b.input_of(head, i).layout);
  }
  for (const std::size_t input : head.inputs) {
    if (block != all_channels && b.network().shape_of(input)[1] % block != 0) return 1;
  }
  return block;
}

/// Returns the dimension that a slice shortens. Returns empty if there is not exactly one, or if a
/// step is not 1.
std::optional<std::size_t> only_sliced_axis(const shape& in, const slice_layer& slice) {
  std::optional<std::size_t> sliced;
  for (std::size_t axis = 0; axis < in.rank(); ++axis) {
    if (slice.step[axis] != 1) return {};
    if (slice.extents[axis] == in[axis]) continue;
    if (sliced) return {};
    sliced = axis;
  }
  return sliced;
}

/// Copies the lines at `count` indices along an axis.
template <class IndexAt>
void copy_lines(const axis_extents& axis, std::int64_t count, const float* from, float* to,
                const IndexAt& index_at) {
  for (std::int64_t outer = 0; outer < axis.outer; ++outer) {
    for (std::int64_t i = 0; i < count; ++i) {
      to = std::copy_n(from + (outer * axis.extent + index_at(i)) * axis.inner, axis.inner, to);
    }
  }
}

/// Interpolates. Ignores `second` if its weight is 0, because `second` may be NaN.
inline float between(float first, float second, float weight) {
  return weight == 0.0F ? first : first + weight * (second - first);
}

/// Computes a result row with `fixed` interleaved channels, or with `any` if `fixed` is 0.
template <std::int64_t fixed>
void resize_row(const resize2d_layer& resize, const resize_position& y, std::int64_t width,
                std::int64_t any, const float* from, float* to) {
  const std::int64_t channels = fixed > 0 ? fixed : any;
  const float* upper = from + y.first * width * channels;
  const float* lower = from + y.second * width * channels;
  for (const resize_position& x : resize.columns) {
    const std::int64_t first = x.first * channels;
    const std::int64_t second = x.second * channels;
    if (x.weight == 0.0F && y.weight == 0.0F) {
      to = std::copy_n(upper + first, channels, to);
      continue;
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      const float top = between(upper[first + c], upper[second + c], x.weight);
      const float bottom = between(lower[first + c], lower[second + c], x.weight);
      to[c] = between(top, bottom, y.weight);
    }
    to += channels;
  }
}

}  // namespace

/// The result has the layout of the largest input. If an input is contiguous in the result, its
/// producer writes directly to the result.
void lower(host_lowering& b, const layer_group& group, const concat_layer& concat) {
  const network_layer& head = b.layer(group.head);
  const shape& out = b.output_shape(head);
  const std::int64_t block = block_of_parts(b, head, concat);
  const host_value result = b.make_tensor(blocked_layout(out, block));
  const std::int64_t outer = along(out, concat.axis, block).outer;
  const std::int64_t whole = out.elements() / outer;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < head.inputs.size(); ++i) {
    const shape& extents = b.network().shape_of(head.inputs[i]);
    const std::int64_t run = extents.elements() / outer;
    if (run == 0) continue;
    const host_value part = b.in_layout(b.input_of(head, i), blocked_layout(extents, block), head);
    const std::size_t offset = static_cast<std::size_t>(begin) * sizeof(float);
    if (outer > 1 || !b.lay_within(part, result, offset)) {
      add_copy(b, head.kind, {outer, run}, part, {0, {run, 1}}, result, {begin, {whole, 1}});
    }
    begin += run;
  }
  b.set_output(group.head, result);
}

void lower(host_lowering& b, const layer_group& group, const slice_layer& slice) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  if (const auto axis = only_sliced_axis(in, slice)) {
    // Keep the channel blocks if the slice consists of whole blocks.
    const host_value& from = b.input_of(head);
    const std::int64_t given = *axis == 1 ? channel_block(from.layout) : 1;
    const bool whole_blocks = given == all_channels || (slice.begin[*axis] % given == 0 &&
                                                        slice.extents[*axis] % given == 0);
    const std::int64_t block = whole_blocks ? given : 1;
    const host_value source = b.in_layout(from, blocked_layout(in, block), head);
    const dnnl::memory::desc layout = blocked_layout(slice.extents, block);
    const axis_extents lies = along(in, *axis, block);
    const std::int64_t begin = slice.begin[*axis] * lies.inner;
    const std::int64_t run = slice.extents[*axis] * lies.inner;
    if (lies.outer == 1) {
      const std::size_t offset = static_cast<std::size_t>(begin) * sizeof(float);
      b.set_output(group.head, b.part_of(source, offset, layout));
      return;
    }
    const host_value result = b.make_tensor(layout);
    add_copy(b, head.kind, {lies.outer, run}, source, {begin, {lies.extent * lies.inner, 1}},
             result, {0, {run, 1}});
    b.set_output(group.head, result);
    return;
  }
  copy_part(b, group, part_of(slice, packed_strides(in)));
}

/// Moving the channels last, or from there, only changes how the elements are viewed.
void lower(host_lowering& b, const layer_group& group, const transpose_layer& transpose) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  const host_value& given = b.input_of(head);
  const auto moves = [&](const std::vector<std::size_t>& order) {
    return transpose.order == order;
  };
  if (moves({0, 2, 3, 1}) || (moves({0, 2, 1}) && given.layout == channels_last(in))) {
    const host_value source = b.in_layout(given, channels_last(in), head);
    return b.set_output(group.head, {source.buffer, plain_layout(out)});
  }
  // Several readers would each put the elements in order.
  const network_layer* const reader = only_reader(b.network(), head);
  if (reader != nullptr &&
      (moves({0, 3, 1, 2}) || (moves({0, 2, 1}) && reshapes_planes(b.network(), *reader)))) {
    return b.set_output(group.head, {b.plain_input_of(head).buffer, channels_last(out)});
  }
  copy_part(b, group, part_of(transpose, packed_strides(in)));
}

void lower(host_lowering& b, const layer_group& group, const expand_layer& expand) {
  copy_part(b, group, {0, broadcast_strides(b.input_shape(b.layer(group.head)), expand.extents)});
}

void lower(host_lowering& b, const layer_group& group, const pad_layer& pad) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  const std::vector<std::int64_t> strides = packed_strides(out);
  const host_value result = b.make_tensor(plain_layout(out));
  add_copy(b, head.kind, out, b.constant({pad.value}, shape{1}, plain_layout({1})),
           {0, std::vector<std::int64_t>(out.rank(), 0)}, result, {0, strides});
  add_copy(b, head.kind, in, b.plain_input_of(head), {0, packed_strides(in)}, result,
           inside_of(pad, strides));
  b.set_output(group.head, result);
}

/// Views the same buffer in another shape; reorders if the elements are not in row-major order.
/// Keeps channels last, or puts them last if the only reader is a transpose that moves them there.
void lower(host_lowering& b, const layer_group& group, const reshape_layer& reshape) {
  const network_layer& head = b.layer(group.head);
  if (reshapes_planes(b.network(), head)) {
    const shape& in = b.input_shape(head);
    const host_value& given = b.input_of(head);
    const network_layer* const reader = only_reader(b.network(), head);
    const auto* const next =
        reader == nullptr ? nullptr : std::get_if<transpose_layer>(&reader->operation);
    if ((in.rank() == 3 && given.layout == channels_last(in)) ||
        (in.rank() == 4 && next != nullptr && next->order == std::vector<std::size_t>{0, 2, 1})) {
      const host_value source = b.in_layout(given, channels_last(in), head);
      return b.set_output(group.head, {source.buffer, channels_last(reshape.extents)});
    }
  }
  b.set_output(group.head, b.in_shape(b.input_of(head), reshape.extents, head));
}

void lower(host_lowering& b, const layer_group& group, const gather_layer& gather) {
  const axis_extents axis = axis_of(b, group, gather.axis);
  b.add_layer_loops(group.head, [axis, indices = gather.indices](const auto& from, const auto& to) {
    copy_lines(axis, std::ssize(indices), from[0], to[0],
               [&](std::int64_t i) { return indices[static_cast<std::size_t>(i)]; });
  });
}

void lower(host_lowering& b, const layer_group& group, const take_layer& take) {
  const network_layer& head = b.layer(group.head);
  const axis_extents axis = axis_of(b, group, take.axis);
  const std::int64_t count = b.network().shape_of(head.inputs[1]).elements();
  b.add_layer_loops(group.head,
                    [axis, count](const auto& from, const auto& to) {
                      copy_lines(axis, count, from[0], to[0], [&](std::int64_t i) {
                        return taken_position(from[1][i], axis.extent, to[1]);
                      });
                    },
                    {b.add_checks(head, take.axis, {axis.extent})});
}

void lower(host_lowering& b, const layer_group& group, const indexed_gather_layer& gather) {
  b.add_layer_loops(
      group.head,
      [places = places_of(gather.selected, false)](const auto& from, const auto& to) {
        const auto index_at = [indices = from[1]](std::int64_t i) { return indices[i]; };
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < places.items; ++i) {
          to[0][i] = from[0][places.at(i, 0, index_at, to[1]).in_tensor];
        }
      },
      {b.add_checks(b.layer(group.head), gather.selected.axis, gather.selected.extents)});
}

/// Updates of an element run in order, so the last one counts.
void lower(host_lowering& b, const layer_group& group, const indexed_scatter_layer& scatter) {
  const network_layer& head = b.layer(group.head);
  const std::int64_t count = b.output_shape(head).elements();
  b.add_layer_loops(
      group.head,
      [count, places = places_of(scatter.selected, true), function = scatter.function](
          const auto& from, const auto& to) {
        std::copy_n(from[0], count, to[0]);
        const auto index_at = [indices = from[1]](std::int64_t i) { return indices[i]; };
#pragma omp parallel for schedule(static)
        for (std::int64_t item = 0; item < places.items; ++item) {
          for (std::int64_t turn = 0; turn < places.turns; ++turn) {
            const auto [in_updates, in_tensor] = places.at(item, turn, index_at, to[1]);
            const float update = from[2][in_updates];
            float& element = to[0][in_tensor];
            element = function ? joined(*function, element, update) : update;
          }
        }
      },
      {b.add_checks(head, scatter.selected.axis, scatter.selected.extents)});
}

void lower(host_lowering& b, const layer_group& group, const resample_layer& resample) {
  const axis_extents axis = axis_of(b, group, resample.axis);
  b.add_layer_loops(group.head, [axis, resample](const auto& from, const auto& to) {
    const std::int64_t count = std::ssize(resample.indices) / resample.taps;
#pragma omp parallel for schedule(static)
    for (std::int64_t line = 0; line < axis.outer * count; ++line) {
      const float* lines = from[0] + line / count * axis.extent * axis.inner;
      float* sums = to[0] + line * axis.inner;
      std::fill_n(sums, axis.inner, 0.0F);
      for (std::int64_t tap = 0; tap < resample.taps; ++tap) {
        const auto at = static_cast<std::size_t>(line % count * resample.taps + tap);
        const float weight = resample.weights[at];
        if (weight == 0.0F) continue;
        const float* read = lines + resample.indices[at] * axis.inner;
        for (std::int64_t i = 0; i < axis.inner; ++i) sums[i] += weight * read[i];
      }
    }
  });
}

void lower(host_lowering& b, const layer_group& group, const resize2d_layer& resize) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const host_value& given = b.input_of(head);
  const std::int64_t block = channel_block(given.layout);
  const host_value source = b.in_layout(given, blocked_layout(in, block), head);
  const host_value result = b.make_tensor(blocked_layout(b.output_shape(head), block));
  const std::vector<std::int64_t> extents = blocked_extents(in, block);
  const std::int64_t planes = extents[0] * extents[1];
  const std::int64_t plane = in[2] * in[3] * extents[4];
  b.add_loops(head.kind, "loops", {source}, {result},
              [planes, plane, width = in[3], channels = extents[4], resize](const auto& read,
                                                                            const auto& written) {
                const auto resize_one = channels == 1    ? resize_row<1>
                                        : channels == 8  ? resize_row<8>
                                        : channels == 16 ? resize_row<16>
                                                         : resize_row<0>;
                const std::int64_t rows = std::ssize(resize.rows);
                const std::int64_t row = std::ssize(resize.columns) * channels;
#pragma omp parallel for schedule(static)
                for (std::int64_t i = 0; i < planes * rows; ++i) {
                  resize_one(resize, resize.rows[static_cast<std::size_t>(i % rows)], width,
                             channels, read[0] + i / rows * plane, written[0] + i * row);
                }
              });
  b.set_output(group.head, result);
}

void lower(host_lowering& b, const layer_group& group, const top_k_layer& top) {
  const axis_extents axis = axis_of(b, group, top.axis);
  const line_order order{top.largest, top.last_of_equal, static_cast<std::int32_t>(axis.extent)};
  std::vector<std::vector<greatest>> lines;  // by thread
  b.add_layer_loops(group.head, [axis, order, count = top.count, lines](const auto& from,
                                                                        const auto& to) mutable {
    lines.resize(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < axis.outer * axis.inner; ++i) {
      const std::int64_t outer = i / axis.inner;
      const std::int64_t lane = i % axis.inner;
      const float* read = from[0] + outer * axis.extent * axis.inner + lane;
      auto& line = lines[static_cast<std::size_t>(omp_get_thread_num())];
      line.clear();
      for (std::int64_t k = 0; k < axis.extent; ++k) {
        line.push_back(order.present(read[k * axis.inner], k));
      }
      std::partial_sort(line.begin(), line.begin() + count, line.end(),
                        [](const greatest& a, const greatest& b) { return a.precedes(b); });
      for (std::int64_t k = 0; k < count; ++k) {
        const greatest& found = line[static_cast<std::size_t>(k)];
        const std::int64_t at = (outer * count + k) * axis.inner + lane;
        to[0][at] = order.value_of(found);
        to[1][at] = static_cast<float>(order.index_of(found));
      }
    }
  });
}

void lower(host_lowering& b, const layer_group& group, const cumulative_sum_layer& sum) {
  const axis_extents axis = axis_of(b, group, sum.axis);
  b.add_layer_loops(group.head, [axis, sum](const auto& read, const auto& written) {
    const float* const from = read[0];
    float* const to = written[0];
    const std::int64_t row = sum.reverse ? -axis.inner : axis.inner;
#pragma omp parallel for schedule(static)
    for (std::int64_t outer = 0; outer < axis.outer; ++outer) {
      std::int64_t at = outer * axis.extent * axis.inner;
      if (sum.reverse) at += (axis.extent - 1) * axis.inner;
      for (std::int64_t i = 0; i < axis.inner; ++i) {
        to[at + i] = sum.exclusive ? 0.0F : from[at + i];
      }
      for (std::int64_t step = 1; step < axis.extent; ++step) {
        const std::int64_t before = std::exchange(at, at + row);
        const float* added = from + (sum.exclusive ? before : at);
        for (std::int64_t i = 0; i < axis.inner; ++i) to[at + i] = to[before + i] + added[i];
      }
    }
  });
}

/// Suppresses the boxes of each entry and class, and writes a row of indices for each kept box.
void lower(host_lowering& b, const layer_group& group,
           const non_max_suppression_layer& suppression) {
  const network_layer& head = b.layer(group.head);
  const shape& scores = b.network().shape_of(head.inputs[1]);
  const std::int64_t classes = scores[1];
  const std::int64_t boxes = scores[2];
  const std::int64_t capacity = b.output_shape(head)[0];
  const std::int64_t most = std::min(suppression.most, boxes);  // rows of an entry and class
  const suppression_limits limits{suppression.iou_threshold, suppression.score_threshold,
                                  static_cast<std::size_t>(most)};
  std::vector<std::int64_t> written(
      static_cast<std::size_t>(scores[0] * classes));  // numbers of each
  std::vector<suppressor> suppressors;                 // by thread; made by the first call
  b.add_layer_loops(group.head, [=, centered = suppression.centered](const auto& from,
                                                                     const auto& to) mutable {
    const auto size = static_cast<std::size_t>(boxes);
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    while (suppressors.size() < threads) suppressors.emplace_back(limits, size);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t i = 0; i < std::ssize(written); ++i) {
      const box* const first = reinterpret_cast<const box*>(from[0]) + i / classes * boxes;
      float* const part = to[0] + i * most * 3;
      float* row = part;
      suppressors[static_cast<std::size_t>(omp_get_thread_num())].run(
          {from[1] + i * boxes, size},
          [&](std::size_t at) { return centered ? from_center(first[at]) : ordered(first[at]); },
          [](std::size_t) { return 0; },
          [&](std::size_t at) {
            *row++ = static_cast<float>(i / classes);
            *row++ = static_cast<float>(i % classes);
            *row++ = static_cast<float>(at);
          });
      written[static_cast<std::size_t>(i)] = row - part;
    }
    float* end = to[0];
    for (std::size_t i = 0; i < written.size(); ++i) {  // joins the parts
      const float* part = to[0] + static_cast<std::int64_t>(i) * most * 3;
      end = end == part ? end + written[i] : std::copy(part, part + written[i], end);
    }
    std::fill(end, to[0] + capacity * 3, 0.0F);
    *to[1] = static_cast<float>((end - to[0]) / 3);
  });
}

void lower(host_lowering& b, const layer_group& group, const nonzero_layer&) {
  const network_layer& head = b.layer(group.head);
  const shape& x = b.input_shape(head);
  b.add_layer_loops(group.head, [capacity = b.output_shape(head)[1], extents = x.extents(),
                                 strides = packed_strides(x),
                                 elements = x.elements()](const auto& from, const auto& to) {
    std::fill_n(to[0], capacity * std::ssize(extents), 0.0F);
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < elements; ++i) {
      if (from[0][i] == 0.0F) continue;
      for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        to[0][static_cast<std::int64_t>(axis) * capacity + found] =
            static_cast<float>(i / strides[axis] % extents[axis]);
      }
      ++found;
    }
    *to[1] = static_cast<float>(found);
  });
}

void lower(host_lowering& b, const layer_group& group, const convert_layer& convert) {
  // An integer result becomes an output tensor of the network, which has the bytes of its type.
  const std::int64_t count = b.output_shape(b.layer(group.head)).elements();
  const auto add = [&]<class From, class To>(From, To, auto one) {
    b.add_layer_loops(group.head, [count, one](const auto& from, const auto& to) {
      const auto* numbers = reinterpret_cast<const From*>(from[0]);
      std::transform(numbers, numbers + count, reinterpret_cast<To*>(to[0]), one);
    });
  };
  const auto integers = [&]<class Integer>(Integer number) {
    if (convert.to == dtype::float32) {
      add(number, float{}, [](Integer from) { return static_cast<float>(from); });
    } else {
      add(float{}, number, saturated<Integer>);
    }
  };
  switch (convert.to == dtype::float32 ? convert.from : convert.to) {
    case dtype::int32:
      return integers(std::int32_t{});
    case dtype::int64:
      return integers(std::int64_t{});
    case dtype::uint8:
      return integers(std::uint8_t{});
    case dtype::float16:
      return add(std::uint16_t{}, float{}, float_from_half);
    case dtype::bfloat16:
      return add(std::uint16_t{}, float{}, float_from_bfloat16);
    case dtype::float64:
      return add(double{}, float{}, [](double from) { return static_cast<float>(from); });
    case dtype::float32:
      return;  // nothing to convert
  }
}

}  // namespace graphline::nn
