#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stages/nn/definition/definition.hpp"
#include "stages/nn/fusion/fusion.hpp"
#include "stages/nn/operations/pointwise.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn {

/// An operand of an expression: a computed value of the network, or numbers.
struct expression_source {
  shape extents;  ///< broadcast to those of the layers, as in NumPy
  std::optional<std::size_t> value = {};
  std::vector<double> numbers = {};
};

/// Element-wise layers as a simplified expression with one result: successive factors and terms are
/// merged, and a written-out hard swish, silu or gelu becomes that function.
struct group_expression : pointwise_expression {
  std::vector<expression_source> sources;  ///< the operands
  std::vector<std::size_t> done;           ///< layers completed after each step
  std::optional<channel_affine> folded;
  std::size_t folded_layers = 0;

  /// Reads of a register by steps and as the result.
  std::size_t uses(std::size_t of) const;

  /// A step whose first or second operand is the previous step's result (the first operand, for
  /// step 0), which no other step reads; the other operand, if any, is a source. Empty for any
  /// other step.
  struct chained_step {
    pointwise_layer layer;
    std::optional<std::size_t> other = {};
    bool first = true;  ///< the chained operand comes before the other
  };
  std::optional<chained_step> chained(std::size_t index) const;

  /// The expression with a term added to the first operand before all other steps.
  group_expression plus(expression_source term) const;

  /// The steps after the first `count`, whose result becomes the first operand.
  group_expression after(std::size_t count) const;
};

/// The expression of element-wise layers, in order; the last gives the result. With `head`, that
/// value is the first operand, and leading factors and terms per channel, along `axis`, go to
/// `folded` instead of steps.
group_expression expression_of(const network_definition& network, const weight_table& weights,
                               std::span<const std::size_t> layers, std::size_t axis,
                               std::optional<std::size_t> head = {});

/// A product and the element-wise layers after it: weights with leading per-channel factors and
/// terms folded in, and an expression of the rest, whose first operand is the product's result.
struct followed_product {
  conv_weights weights;
  group_expression layers;
  std::size_t inner = 0;  ///< dimensions of the result after the channels

  /// The bias as a term, if the library does not add it.
  expression_source bias_term() const;
};

/// The product at the head of a group and the layers that follow it; `axis` is the dimension of the
/// channels.
followed_product followed_product_of(const network_definition& network, const weight_table& weights,
                                     const layer_group& group, std::size_t axis);

/// Whether extents broadcast to `of` differ from 1 along `axis` only.
bool along_channels(const shape& extents, const shape& of, std::size_t axis);

}  // namespace graphline::nn
