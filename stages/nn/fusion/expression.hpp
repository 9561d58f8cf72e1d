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
  shape extents;  ///< broadcast to the extents of the layers, as in NumPy
  std::optional<std::size_t> value = {};
  std::vector<double> numbers = {};
};

/// Element-wise layers as a simplified expression with one result. Successive factors and terms are
/// merged. Hard swish, silu and gelu become single functions if they are written out in steps.
struct group_expression : pointwise_expression {
  std::vector<expression_source> sources;
  std::vector<std::size_t> done;  ///< layers completed after each step
  std::optional<channel_affine> folded;
  std::size_t folded_layers = 0;

  /// Returns how often a register is read, by steps or as the result.
  std::size_t uses(std::size_t of) const;

  /// A step that a library can fuse. One operand is the previous step's result, or for step 0 the
  /// expression's first operand, and nothing else reads this operand. The other operand, if any, is
  /// a source.
  struct chained_step {
    pointwise_layer layer;
    std::optional<std::size_t> other = {};
    bool first = true;  ///< true if the previous result is the first operand
  };
  std::optional<chained_step> chained(std::size_t index) const;

  /// Returns the expression that first adds a term to the first operand.
  group_expression plus(expression_source term) const;

  /// Returns the steps after the first `count` steps, with their result as the first operand.
  group_expression after(std::size_t count) const;
};

/// Returns the expression of element-wise layers; the last layer gives the result. If `head` is
/// set, it is the value of the first operand, and leading factors and terms per channel along
/// `axis` go to `folded` instead of steps.
group_expression expression_of(const network_definition& network, const weight_table& weights,
                               std::span<const std::size_t> layers, std::size_t axis,
                               std::optional<std::size_t> head = {});

/// A product and the element-wise layers after it. Leading per-channel factors and terms are folded
/// into the weights. The rest is an expression whose first operand is the product's result.
struct followed_product {
  conv_weights weights;
  group_expression layers;
  std::size_t inner = 0;  ///< number of the result's dimensions after the channels

  /// Returns the bias as a term, for libraries that do not add a bias.
  expression_source bias_term() const;
};

/// Returns the product at the head of a group with the layers that follow the product. `axis` is
/// the dimension of the channels.
followed_product followed_product_of(const network_definition& network, const weight_table& weights,
                                     const layer_group& group, std::size_t axis);

/// Returns true if extents that are broadcast to `of` are 1 in all dimensions except `axis`.
bool along_channels(const shape& extents, const shape& of, std::size_t axis);

}  // namespace graphline::nn
