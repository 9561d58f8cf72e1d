#include "stages/nn/host/element_wise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stages/nn/host/pointwise_loops.hpp"

namespace graphline::nn {
namespace {

/// Adds leading extents of 1 up to `rank`.
shape with_rank(const shape& s, std::size_t rank) {
  std::vector<std::int64_t> extents(rank - s.rank(), 1);
  extents.insert(extents.end(), s.extents().begin(), s.extents().end());
  return shape(std::move(extents));
}

/// Returns the strides of a tensor with `block` interleaved channels. Broadcast dimensions have
/// stride 0.
std::vector<std::int64_t> blocked_strides(const shape& s, std::int64_t block) {
  const std::vector<std::int64_t> extents = blocked_extents(s, block);
  std::vector<std::int64_t> strides = packed_strides(shape(extents));
  for (const std::size_t axis : {0U, 2U, 3U}) {
    if (extents[axis] == 1) strides[axis] = 0;
  }
  return strides;
}

/// Zeroes the channels that pad the last block.
void zero_padding(host_lowering& b, const host_value& tensor, const shape& s, std::int64_t block) {
  const std::int64_t used = block == all_channels ? 0 : s[1] % block;
  if (used == 0) return;
  const std::vector<std::int64_t> strides = blocked_strides(s, block);
  const std::int64_t image = s.elements() == 0 ? 0 : blocked_extents(s, block)[1] * strides[1];
  add_copy(b, "padding", {s[0], s[2] * s[3], block - used},
           b.constant({0.0F}, shape{1}, plain_layout({1})), {0, {0, 0, 0}}, tensor,
           {(s[1] / block) * strides[1] + used, {image, block, 1}});
}

}  // namespace

void add_pointwise(host_lowering& b, std::string_view content,
                   const pointwise_expression& expression, const pointwise_space& space,
                   std::vector<host_operand> from, const host_operand& to) {
  b.add_loops(content, fmt::format("{} loops", pointwise_loops::instructions()), std::move(from),
              {to},
              [loops = pointwise_loops(expression, space)](
                  const auto& operands, const auto& results) { loops.run(operands, results); });
}

void add_copy(host_lowering& b, std::string_view content, const shape& extents,
              const host_value& from, const strided_part& from_part, const host_value& to,
              const strided_part& to_part) {
  const auto operand = [](const host_value& tensor, const strided_part& part) {
    return host_operand(tensor, static_cast<std::size_t>(part.begin) * sizeof(float));
  };
  const pointwise_expression copy{.operands = 1, .steps = {}, .results = {0}};
  add_pointwise(b, content, copy, {extents.extents(), {from_part.strides, to_part.strides}},
                {operand(from, from_part)}, operand(to, to_part));
}

std::int64_t channel_block(const dnnl::memory::desc& layout) {
  const shape s(layout.dims());
  if (s.rank() != 4) return 1;
  for (const std::int64_t block :
       {std::int64_t{1}, std::int64_t{8}, std::int64_t{16}, all_channels}) {
    if (layout == blocked_layout(s, block)) return block;
  }
  return 1;
}

dnnl::memory::desc blocked_layout(const shape& s, std::int64_t block) {
  using tag = dnnl::memory::format_tag;
  if (block == 1) return plain_layout(s);
  return {s.extents(), dnnl::memory::data_type::f32,
          block == all_channels ? tag::nhwc
          : block == 8          ? tag::nChw8c
                                : tag::nChw16c};
}

std::vector<std::int64_t> blocked_extents(const shape& s, std::int64_t block) {
  const std::int64_t together = block == all_channels ? s[1] : block;
  return {s[0], (s[1] + together - 1) / together, s[2], s[3], together};
}

std::string kinds_of(const host_lowering& b, std::span<const std::size_t> layers) {
  std::string name;
  for (const std::size_t layer : layers) name += (name.empty() ? "" : "+") + b.layer(layer).kind;
  return name;
}

host_value operand_of(host_lowering& b, const expression_source& source,
                      const dnnl::memory::desc& layout, const network_layer& reader) {
  const shape extents(layout.dims());
  if (source.numbers.empty()) {
    return b.in_layout(b.in_shape(b.value(*source.value), extents, reader), layout, reader);
  }
  return b.constant({source.numbers.begin(), source.numbers.end()}, extents, layout);
}

void lower_expression(host_lowering& b, const group_expression& layers, std::string_view content,
                      std::size_t last, const host_value* given) {
  const network_layer& owner = b.layer(last);
  const shape& out = b.output_shape(owner);
  const auto is_given = [&](std::size_t source) { return source == 0 && given != nullptr; };
  std::int64_t block = 1;
  for (std::size_t i = 0; i < layers.sources.size() && block == 1; ++i) {
    const expression_source& source = layers.sources[i];
    if (source.extents != out || !source.numbers.empty()) continue;
    block = channel_block(is_given(i) ? given->layout : b.value(*source.value).layout);
  }
  if (block > 1 && out[1] < block) block = 1;  // larger blocks would be mostly padding
  const bool blocked = block != 1;
  pointwise_space space{blocked ? blocked_extents(out, block) : out.extents(), {}};
  std::vector<host_operand> tensors;
  bool in_place = false;
  for (std::size_t i = 0; i < layers.sources.size(); ++i) {
    const expression_source& source = layers.sources[i];
    const shape extents = blocked ? with_rank(source.extents, 4) : source.extents;
    const bool has_channels = blocked && extents[1] == out[1];
    const dnnl::memory::desc layout = blocked_layout(extents, has_channels ? block : 1);
    host_value tensor;
    if (is_given(i)) {
      tensor = b.in_layout(*given, layout, owner);
      in_place = source.extents == out;
    } else {
      tensor = operand_of(b, source, layout, owner);
    }
    tensors.emplace_back(std::move(tensor));
    if (has_channels) {
      space.strides.push_back(blocked_strides(extents, block));
    } else {
      std::vector<std::int64_t> strides = broadcast_strides(extents, out);
      if (blocked) strides.push_back(0);  // broadcast along the channels
      space.strides.push_back(std::move(strides));
    }
  }
  const host_value result =
      in_place ? tensors.front().tensor : b.make_tensor(blocked_layout(out, block));
  space.strides.push_back(blocked ? blocked_strides(out, block) : packed_strides(out));
  add_pointwise(b, content, layers, space, std::move(tensors), result);
  if (blocked) zero_padding(b, result, out, block);
  b.set_output(last, result);
}

void lower_element_wise(host_lowering& b, const layer_group& group) {
  const std::vector<std::size_t> layers = group.members();
  const shape& out = b.output_shape(b.layer(group.last()));
  const std::size_t axis = out.rank() == 4 ? 1 : std::max<std::size_t>(out.rank(), 1) - 1;
  const group_expression expression = expression_of(b.network(), b.weights(), layers, axis);
  lower_expression(b, expression, kinds_of(b, layers), group.last());
}

}  // namespace graphline::nn
