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

/// What an expression reads: a value of the network that is computed, or numbers.
struct expression_source {
  shape extents;  ///< broadcast to those of the layers as in NumPy
  std::optional<std::size_t> value = {};
  std::vector<double> numbers = {};
};

/// Element-wise layers as an expression with one result, simplified: factors and terms that follow
/// each other are one, and a hard swish or silu that is written out is the function.
struct group_expression : pointwise_expression {
  std::vector<expression_source> sources;  ///< of its operands
  std::vector<std::size_t> done;           ///< how many of the layers each step completes
  std::optional<channel_affine> folded;
  std::size_t folded_layers = 0;

  /// How often a register is read, by steps or as the result.
  std::size_t uses(std::size_t of) const;

  /// A step of what the one before it gives, or the first of the first operand, which no other
  /// step reads; its other operand, where it has one, is a source. Nothing for any other step.
  struct chained_step {
    pointwise_layer layer;
    std::optional<std::size_t> other = {};
    bool first = true;  ///< the chained operand comes before the other
  };
  std::optional<chained_step> chained(std::size_t index) const;

  /// With a term for each channel added to the first operand before all else.
  group_expression plus(expression_source term) const;

  /// What is left after so many steps, the last of which gave the first operand.
  group_expression after(std::size_t count) const;
};

/// The expression of element-wise layers, which stand in order and of which the last gives the
/// result. A source for `head`, where it is given, comes first; factors and terms for each of its
/// channels, along `axis`, that come before all else are `folded` then and none of the steps.
group_expression expression_of(const network_definition& network, const weight_table& weights,
                               std::span<const std::size_t> layers, std::size_t axis,
                               std::optional<std::size_t> head = {});

/// A product and the element-wise layers after it: its weights with the factors and terms for each
/// output channel that come first in them, and an expression of the rest, whose first operand is
/// what the product gives.
struct followed_product {
  conv_weights weights;
  group_expression layers;
  std::size_t inner = 0;  ///< dimensions of the result after the one of its channels

  /// Its bias as what is added first, where a library leaves that to the expression.
  expression_source bias_term() const;
};

/// Those of a group with a product at its head, of which `axis` has the channels.
followed_product followed_product_of(const network_definition& network, const weight_table& weights,
                                     const layer_group& group, std::size_t axis);

/// The activation that a pointwise layer is, where it is one.
std::optional<activation> activation_of(const pointwise_layer& layer);

/// Whether extents that are broadcast to `of` differ from 1 along `axis` at most.
bool along_channels(const shape& extents, const shape& of, std::size_t axis);

}  // namespace graphline::nn
