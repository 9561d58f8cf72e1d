#pragma once

#include <algorithm>
#include <cstdint>
#include <dnnl.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stages/nn/fusion/expression.hpp"
#include "stages/nn/host/lowering.hpp"
#include "stages/nn/host/pointwise_loops.hpp"

namespace graphline::nn {

/// Adds loops; `tensors` contains the operands, then the results.
void add_loops(host_lowering& b, std::string_view content, const pointwise_expression& expression,
               const pointwise_space& space, std::vector<host_operand> tensors);

/// Returns how many channels of [N, C, H, W] are interleaved in the innermost dimension: 8, 16, or
/// `all_channels` for channels last. Returns 1 for any other layout.
std::int64_t channel_block(const dnnl::memory::desc& layout);
constexpr std::int64_t all_channels = 0;

/// Returns the layout with `block` interleaved channels. Channels missing in the last block are
/// padded with zeros.
dnnl::memory::desc blocked_layout(const shape& s, std::int64_t block);

/// Returns the extents in that layout: [N, blocks, H, W, channels of a block].
std::vector<std::int64_t> blocked_extents(const shape& s, std::int64_t block);

/// Adds loops that evaluate the expression of a group's last layers, and sets the output of `last`.
/// `content` names the step. If `given` is not null, it is the first operand, and nothing reads it
/// later.
void lower_expression(host_lowering& b, const group_expression& layers, std::string_view content,
                      std::size_t last, const host_value* given = nullptr);

/// Returns the kinds of layers, joined by "+".
std::string kinds_of(const host_lowering& b, std::span<const std::size_t> layers);

/// A product and its expression. oneDNN fuses leading steps; loops evaluate the rest.
struct fused_product : followed_product {
  const layer_group& group;
  shape result;  ///< extents, with channels second, of the head's output or of its rows
  /// Layout of the rows of the head's output, packed and row-major. Zero if the result is viewed as
  /// the output, in a layout that oneDNN chooses.
  dnnl::memory::desc rows = {};
  bool bias = false;  ///< true if the step's name mentions a bias

  bool of_rows() const { return !rows.is_zero(); }
};

/// Leading steps of an expression as oneDNN post-operations.
struct post_operations {
  struct second_operand {
    int position = 0;
    std::size_t source = 0;
    dnnl::memory::desc layout;
  };
  dnnl::primitive_attr attributes;
  std::vector<second_operand> operands;
};

/// Returns the number of leading steps that can be post-operations. Each must read the previous
/// result, and nothing else may read that result.
std::size_t most_post_operations(const host_lowering& b, const fused_product& product);

/// Makes post-operations from the first `steps` for a primitive with the result `destination`.
post_operations make_post_operations(const host_lowering& b, const fused_product& product,
                                     std::size_t steps, const dnnl::memory::desc& destination);

/// Returns the operands of post-operations in the layouts that the primitive reads.
std::vector<host_operand> bring_operands(host_lowering& b, const fused_product& product,
                                         const post_operations& operations);

/// Adds a product and its epilogue. oneDNN fuses as many steps as it can with the same
/// implementation; loops evaluate the rest.
///
/// `choose(attributes, destination)` makes the primitive descriptor. `operands(descriptor)` returns
/// source, weights and bias in the descriptor's layouts.
template <class Primitive, class Choose, class Operands>
void lower_product(host_lowering& b, const fused_product& product, const Choose& choose,
                   const Operands& operands) {
  using descriptor = typename Primitive::primitive_desc;
  const layer_group& group = product.group;
  const network_layer& head = b.layer(group.head);
  descriptor chosen =
      choose(onednn_attributes(), product.of_rows() ? product.rows : any_layout(product.result));
  const dnnl::memory::desc destination = chosen.dst_desc();
  const std::string alone = chosen.impl_info_str();
  const auto fused = [&](std::size_t steps) -> std::optional<descriptor> {
    try {
      return choose(make_post_operations(b, product, steps, destination).attributes, destination);
    } catch (const dnnl::error&) {
      return {};  // oneDNN cannot fuse these steps
    }
  };
  std::size_t steps = most_post_operations(b, product);
  for (; steps > 0; --steps) {
    const auto with = fused(steps);
    if (!with || with->impl_info_str() != alone) continue;
    chosen = *with;
    break;
  }
  std::vector<host_operand> all = operands(chosen);
  const auto second =
      bring_operands(b, product, make_post_operations(b, product, steps, destination));
  all.insert(all.end(), second.begin(), second.end());
  const host_value made = b.make_tensor(destination);
  all.push_back({DNNL_ARG_DST, made});
  const group_expression rest = product.layers.after(steps);
  const std::span<const std::size_t> epilogue = group.epilogue;
  const std::size_t done = rest.steps.empty() ? epilogue.size()
                           : steps > 0        ? product.layers.done[steps - 1]
                                              : product.layers.folded_layers;
  std::string name = head.kind;
  if (product.bias) name += "+bias";
  if (done > 0) name += "+" + kinds_of(b, epilogue.first(done));
  b.add_primitive<Primitive>(name, head, chosen, std::move(all));
  const host_value given =
      product.of_rows() ? host_value{made.buffer, plain_layout(b.output_shape(head))} : made;
  if (rest.steps.empty()) {
    b.set_output(group.last(), given);
  } else {
    lower_expression(b, rest, kinds_of(b, epilogue.subspan(done)), group.last(), &given);
  }
}

}  // namespace graphline::nn
