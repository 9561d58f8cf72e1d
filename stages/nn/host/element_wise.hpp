#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stages/nn/fusion/expression.hpp"
#include "stages/nn/host/lowering.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn {

/// Copies a view of `from` to a view of `to`, both with these extents. `content` names the step.
void add_copy(host_lowering& b, std::string_view content, const shape& extents,
              const host_value& from, const strided_part& from_part, const host_value& to,
              const strided_part& to_part);

/// Returns how many channels of [N, C, H, W] are interleaved in the innermost dimension: 8, 16, or
/// `all_channels` for channels last. Returns 1 for any other layout.
std::int64_t channel_block(const dnnl::memory::desc& layout);
constexpr std::int64_t all_channels = 0;

/// Returns the layout with `block` interleaved channels. Channels missing in the last block are
/// padded with zeros.
dnnl::memory::desc blocked_layout(const shape& s, std::int64_t block);

/// Returns the extents in that layout: [N, blocks, H, W, channels of a block].
std::vector<std::int64_t> blocked_extents(const shape& s, std::int64_t block);

/// Returns an operand of an expression in this layout, viewed in the extents of the layout.
host_value operand_of(host_lowering& b, const expression_source& source,
                      const dnnl::memory::desc& layout, const network_layer& reader);

/// Adds loops that evaluate the expression of a group's last layers, and sets the output of `last`.
/// `content` names the step. If `given` is not null, it is the first operand, and nothing reads it
/// later.
void lower_expression(host_lowering& b, const group_expression& layers, std::string_view content,
                      std::size_t last, const host_value* given = nullptr);

/// Returns the kinds of layers, joined by "+".
std::string kinds_of(const host_lowering& b, std::span<const std::size_t> layers);

}  // namespace graphline::nn
