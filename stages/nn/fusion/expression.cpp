#include "stages/nn/fusion/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace graphline::nn {
namespace {

using function = pointwise_function;

/// A source or a step of an expression under construction. `from` contains earlier nodes.
struct expression_node {
  std::optional<expression_source> source = {};
  function does = function::linear;
  double alpha = 0;
  double beta = 0;
  std::vector<std::size_t> from = {};
  std::size_t done = 0;

  bool is(function of) const { return !source && does == of; }
};

/// A node that equals scale * base + shift, per channel or for all channels.
struct affine_run {
  std::size_t base = 0;
  channel_affine affine;
};

/// Coefficients of the powers 0 to 3 of a node.
using polynomial = std::array<double, 4>;

/// Returns the map that applies `first`, then `second`.
channel_affine composed(const channel_affine& first, const channel_affine& second) {
  channel_affine result;
  const std::size_t scales = std::max(first.scale.size(), second.scale.size());
  const std::size_t shifts =
      std::max({first.shift.size(), second.scale.size(), second.shift.size()});
  for (std::size_t c = 0; c < scales; ++c) {
    result.scale.push_back(first.scale_of(c) * second.scale_of(c));
  }
  for (std::size_t c = 0; c < shifts; ++c) {
    result.shift.push_back(first.shift_of(c) * second.scale_of(c) + second.shift_of(c));
  }
  return result;
}

class expression_maker {
 public:
  expression_maker(const network_definition& network, const weight_table& weights, std::size_t axis,
                   shape extents)
      : network_(network), weights_(weights), axis_(axis), extents_(std::move(extents)) {}

  void add_head(std::size_t value) {
    result_ = node_of(value);
    has_head_ = true;
  }

  void take_layer(std::size_t index) {
    const network_layer& layer = network_.layers[index];
    ++layers_;
    if (std::holds_alternative<batch_norm2d_layer>(layer.operation)) {
      const std::size_t x = node_of(layer.inputs.front());
      channel_affine norm = affine_of(weights_, layer);
      const std::size_t scaled = add(function::mul, {x, numbers(std::move(norm.scale))});
      result_ = add(function::add, {scaled, numbers(std::move(norm.shift))});
    } else {
      std::vector<std::size_t> from;
      for (const std::size_t value : layer.inputs) from.push_back(node_of(value));
      result_ = add_pointwise(std::get<pointwise_layer>(layer.operation), from);
    }
    known_[layer.outputs.front()] = result_;
  }

  /// Returns the expression of the last layer's output.
  group_expression finish() {
    join_affine_steps();
    return linked();
  }

 private:
  const expression_node& node(std::size_t index) const { return nodes_[index]; }

  std::size_t node_of(std::size_t value) {
    const auto found = known_.find(value);
    if (found != known_.end()) return found->second;
    expression_source source{network_.shape_of(value)};
    if (network_.values[value].constant) {
      const auto data = weights_.of(value);
      source.numbers.assign(data.begin(), data.end());
    } else {
      source.value = value;
    }
    nodes_.push_back({.source = std::move(source)});
    known_[value] = nodes_.size() - 1;
    return nodes_.size() - 1;
  }

  /// Adds a source with one number per channel.
  std::size_t numbers(std::vector<double> values) {
    const shape extents = first_of(std::ssize(values), extents_.rank() - axis_);
    nodes_.push_back({.source = expression_source{extents, {}, std::move(values)}});
    return nodes_.size() - 1;
  }

  std::size_t add(function does, std::vector<std::size_t> from, double alpha = 0, double beta = 0) {
    nodes_.push_back(
        {.does = does, .alpha = alpha, .beta = beta, .from = std::move(from), .done = layers_});
    return nodes_.size() - 1;
  }

  std::optional<double> number_of(std::size_t index) const {
    const auto& source = node(index).source;
    if (!source || source->numbers.size() != 1) return {};
    return source->numbers[0];
  }

  /// Returns a node as a polynomial in node `x` of degree 3 or less; empty if it is none.
  std::optional<polynomial> polynomial_of(std::size_t index, std::size_t x) const {
    if (index < x) return {};
    std::vector<std::optional<polynomial>> known(index + 1);
    known[x] = {0, 1, 0, 0};
    for (std::size_t i = x + 1; i <= index; ++i) {
      const expression_node& of = node(i);
      const bool linear = of.is(function::linear);
      const bool sums = of.is(function::add);
      if (!linear && !sums && !of.is(function::mul)) continue;
      const auto& a = known[of.from[0]];
      const auto& b = known[of.from[linear ? 0 : 1]];
      if (!a || !b) continue;
      polynomial result{linear ? of.beta : 0.0};
      bool fits = true;
      for (std::size_t m = 0; m < a->size(); ++m) {
        if (linear) result[m] += of.alpha * (*a)[m];
        if (sums) result[m] += (*a)[m] + (*b)[m];
        for (std::size_t n = 0; !linear && !sums && n < b->size(); ++n) {
          const double product = (*a)[m] * (*b)[n];
          if (m + n < result.size()) result[m + n] += product;
          fits = fits && (m + n < result.size() || product == 0);
        }
      }
      if (fits) known[i] = result;
    }
    return known[index];
  }

  /// If `factor` is a function of x and x * factor is a known function, adds that function.
  std::optional<std::size_t> whole_function(std::size_t x, std::size_t factor) {
    const expression_node& of = node(factor);
    if (of.source || of.from.size() != 1) return {};
    const bool one_more = of.is(function::linear) && of.alpha == 1 && of.beta == 1;
    if (one_more && node(x).is(function::linear) && node(x).beta == 0) {
      // Exporters also write gelu as (x / 2) (1 + ...).
      const double scale = node(x).alpha;
      if (const auto whole = whole_function(node(x).from[0], factor)) {
        return add(function::linear, {*whole}, scale, 0);
      }
    }
    const expression_node& applied = one_more ? node(of.from[0]) : of;
    if (applied.source || applied.from.size() != 1) return {};
    const auto inner = polynomial_of(applied.from[0], x);
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-6; };
    const auto is = [&](function does, const polynomial& of_x) {
      return applied.does == does && inner && std::ranges::equal(*inner, of_x, near);
    };
    const double scale = std::sqrt(2 / std::numbers::pi);
    if (one_more && is(function::tanh, {0, scale, 0, 0.044715 * scale})) {
      return add(function::linear, {add(function::gelu_tanh, {x})}, 2, 0);
    }
    if (one_more && is(function::erf, {0, std::sqrt(0.5)})) {
      return add(function::linear, {add(function::gelu_erf, {x})}, 2, 0);
    }
    if (one_more) return {};
    // Exporters of swish write x sigmoid(beta x), also with a beta of 1.
    if (is(function::sigmoid, {0, 1})) return add(function::silu, {x});
    const bool sixth = of.beta == 0.5 && static_cast<float>(of.alpha) == 1.0F / 6;
    if (sixth && is(function::hard_sigmoid, {0, 1})) return add(function::hard_swish, {x});
    if (of.alpha != 0 || of.beta != 6 || !is(function::clip, {3, 1})) return {};
    return add(function::linear, {add(function::hard_swish, {x})}, 6, 0);
  }

  std::size_t add_pointwise(const pointwise_layer& layer, const std::vector<std::size_t>& from) {
    const function does = layer.function;
    if (does == function::sub && number_of(from[0]) == 1.0 &&
        node(from[1]).is(function::hard_sigmoid)) {
      const expression_node& hard = node(from[1]);  // 1 - h(x) is a hard sigmoid
      return add(function::hard_sigmoid, {hard.from[0]}, -hard.alpha, 1 - hard.beta);
    }
    if (does == function::mul) {
      if (const auto whole = whole_function(from[0], from[1])) return *whole;
      if (const auto whole = whole_function(from[1], from[0])) return *whole;
    }
    const std::size_t made = add(does, from, layer.alpha, layer.beta);
    const auto run = affine_of_node(made);
    if (!run || run->affine.scale.size() > 1 || run->affine.shift.size() > 1) return made;
    return add(function::linear, {run->base}, run->affine.scale[0], run->affine.shift[0]);
  }

  /// Returns a node as scale * base + shift if it scales by constants or adds constants; otherwise
  /// empty.
  std::optional<affine_run> affine_of_node(std::size_t index) const {
    const expression_node& of = node(index);
    if (of.source) return {};
    if (of.does == function::linear) return affine_run{of.from[0], {{of.alpha}, {of.beta}}};
    constexpr function these[] = {function::add, function::sub, function::mul, function::div};
    if (std::ranges::find(these, of.does) == std::end(these)) return {};
    for (const std::size_t which : {1U, 0U}) {
      const auto& source = node(of.from[which]).source;
      if (!source || (of.does == function::div && which == 0)) continue;
      const std::vector<double>& constants = source->numbers;
      if (constants.empty() || !along_channels(source->extents, extents_, axis_)) continue;
      if (of.does == function::div && std::ranges::count(constants, 0.0) > 0) continue;
      affine_run run{of.from[1 - which], {{1.0}, {0.0}}};
      if (of.does == function::mul) {
        run.affine.scale = constants;
      } else if (of.does == function::div) {
        run.affine.scale.clear();
        for (const double divisor : constants) run.affine.scale.push_back(1 / divisor);
      } else {
        run.affine.shift = constants;
        const bool subtracted = of.does == function::sub;
        if (subtracted && which == 0) run.affine.scale = {-1.0};
        if (subtracted && which == 1) {
          for (double& term : run.affine.shift) term = -term;
        }
      }
      return run;
    }
    return {};
  }

  std::vector<std::size_t> uses() const {
    std::vector<std::size_t> count(nodes_.size(), 0);
    ++count[result_];
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (count[i] == 0) continue;
      for (const std::size_t from : nodes_[i].from) ++count[from];
    }
    return count;
  }

  void join_affine_steps() {
    const std::vector<std::size_t> used = uses();
    const std::size_t result = result_;
    // For each old node: the new node, and the affine run that ends at the old node.
    std::vector<std::size_t> moved(nodes_.size(), 0);
    std::vector<std::optional<affine_run>> runs(nodes_.size());
    std::vector<bool> continues(nodes_.size(), false);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (used[i] == 0) continue;
      runs[i] = affine_of_node(i);
      if (!runs[i]) continue;
      const std::size_t base = runs[i]->base;
      if (used[base] == 1 && runs[base]) {
        runs[i] = affine_run{runs[base]->base, composed(runs[base]->affine, runs[i]->affine)};
        continues[base] = true;
      }
    }
    const std::vector<expression_node> before = std::exchange(nodes_, {});
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (used[i] == 0 && !before[i].source) continue;
      layers_ = before[i].done;
      if (!runs[i]) {
        nodes_.push_back(before[i]);
        for (std::size_t& from : nodes_.back().from) from = moved[from];
        moved[i] = nodes_.size() - 1;
        continue;
      }
      if (continues[i]) continue;
      const auto& [base, affine] = *runs[i];
      if (has_head_ && base == 0 && used[0] == 1) {
        folded_ = affine;
        folded_layers_ = layers_;
        moved[i] = moved[0];
        continue;
      }
      std::size_t now = moved[base];
      if (affine.scale.size() == 1 && affine.shift.size() == 1) {
        if (affine.scale[0] != 1 || affine.shift[0] != 0) {
          now = add(function::linear, {now}, affine.scale[0], affine.shift[0]);
        }
      } else {
        if (std::ranges::any_of(affine.scale, [](double each) { return each != 1; })) {
          const std::size_t scale = numbers(affine.scale);
          now = add(function::mul, {now, scale});
        }
        if (std::ranges::any_of(affine.shift, [](double each) { return each != 0; })) {
          const std::size_t shift = numbers(affine.shift);
          now = add(function::add, {now, shift});
        }
      }
      moved[i] = now;
    }
    result_ = moved[result];
  }

  /// Numbers the sources and steps that are read, and returns them as an expression.
  group_expression linked() const {
    const std::vector<std::size_t> used = uses();
    group_expression made;
    made.folded = folded_;
    made.folded_layers = folded_layers_;
    std::vector<std::size_t> number(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const bool head = has_head_ && i == 0;
      if (!nodes_[i].source || (used[i] == 0 && !head)) continue;
      number[i] = made.sources.size();
      made.sources.push_back(*nodes_[i].source);
    }
    made.operands = made.sources.size();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const expression_node& of = nodes_[i];
      if (of.source || used[i] == 0) continue;
      number[i] = made.operands + made.steps.size();
      pointwise_expression::step step{
          {of.does, static_cast<float>(of.alpha), static_cast<float>(of.beta)}, {}};
      for (std::size_t k = 0; k < of.from.size(); ++k) {
        step.from[k] = static_cast<std::uint16_t>(number[of.from[k]]);
      }
      made.steps.push_back(step);
      made.done.push_back(of.done);
    }
    made.results = {number[result_]};
    return made;
  }

  const network_definition& network_;
  const weight_table& weights_;
  std::size_t axis_;
  shape extents_;
  std::vector<expression_node> nodes_;
  std::map<std::size_t, std::size_t> known_;  ///< node that computes each value
  bool has_head_ = false;
  std::size_t result_ = 0;
  std::size_t layers_ = 0;
  std::optional<channel_affine> folded_;
  std::size_t folded_layers_ = 0;
};

}  // namespace

group_expression expression_of(const network_definition& network, const weight_table& weights,
                               std::span<const std::size_t> layers, std::size_t axis,
                               std::optional<std::size_t> head) {
  const std::size_t last =
      layers.empty() ? head.value() : network.layers[layers.back()].outputs.front();
  expression_maker maker(network, weights, axis, network.shape_of(last));
  if (head) maker.add_head(*head);
  for (const std::size_t layer : layers) maker.take_layer(layer);
  return maker.finish();
}

bool along_channels(const shape& extents, const shape& of, std::size_t axis) {
  for (std::size_t i = 0; i < extents.rank(); ++i) {
    const std::size_t at = i + of.rank() - extents.rank();
    if (extents[i] != 1 && (at != axis || extents[i] != of[axis])) return false;
  }
  return true;
}

expression_source followed_product::bias_term() const {
  return {first_of(std::ssize(weights.bias), inner + 1),
          {},
          {weights.bias.begin(), weights.bias.end()}};
}

followed_product followed_product_of(const network_definition& network, const weight_table& weights,
                                     const layer_group& group, std::size_t axis) {
  const network_layer& head = network.layers[group.head];
  const shape& out = network.output_of(head);
  followed_product made{weights_of(weights, head),
                        expression_of(network, weights, group.epilogue, axis, head.outputs.front()),
                        out.rank() - 1 - axis};
  if (made.layers.folded) {
    made.weights.fold(*made.layers.folded, static_cast<std::size_t>(out[axis]));
  }
  return made;
}

std::size_t group_expression::uses(std::size_t of) const {
  auto count = std::ranges::count(results, of);
  for (const step& each : steps) count += std::ranges::count(each.reads(), of);
  return static_cast<std::size_t>(count);
}

std::optional<group_expression::chained_step> group_expression::chained(std::size_t index) const {
  const std::size_t before = index == 0 ? 0 : operands + index - 1;
  const step& of = steps[index];
  const std::size_t reads = of.reads().size();
  if (uses(before) != 1 || reads > 2) return {};
  const bool first = of.from[0] == before;
  if (reads == 1) return first ? std::optional(chained_step{of.layer}) : std::nullopt;
  const std::size_t other = of.from[first ? 1 : 0];
  if (other >= operands || (!first && of.from[1] != before)) return {};
  return chained_step{of.layer, other, first};
}

group_expression group_expression::plus(expression_source term) const {
  group_expression made = *this;
  made.sources.push_back(std::move(term));
  ++made.operands;
  const auto sum = static_cast<std::uint16_t>(made.operands);
  const auto renumbered = [&](std::size_t before) {
    if (before == 0) return std::size_t{sum};
    return before < operands ? before : before + 2;
  };
  for (step& each : made.steps) {
    for (std::uint16_t& from : each.from) from = static_cast<std::uint16_t>(renumbered(from));
  }
  const step first{{pointwise_function::add}, {0, static_cast<std::uint16_t>(operands)}};
  made.steps.insert(made.steps.begin(), first);
  made.done.insert(made.done.begin(), folded_layers);
  made.results = {renumbered(results.front())};
  return made;
}

group_expression group_expression::after(std::size_t count) const {
  if (count == 0) return *this;
  const std::size_t first = operands + count - 1;
  group_expression rest;
  rest.sources = {sources.front()};
  // The last removed step becomes the first operand. Other operands stay if a remaining step reads
  // them.
  std::map<std::size_t, std::size_t> number{{first, 0}};
  for (std::size_t i = count; i < steps.size(); ++i) {
    for (const std::size_t from : steps[i].reads()) {
      if (from >= operands || !number.try_emplace(from, rest.sources.size()).second) continue;
      rest.sources.push_back(sources[from]);
    }
  }
  rest.operands = rest.sources.size();
  for (std::size_t i = count; i < steps.size(); ++i) {
    step next{steps[i].layer, {}};
    const auto reads = steps[i].reads();
    for (std::size_t k = 0; k < reads.size(); ++k) {
      next.from[k] = static_cast<std::uint16_t>(number.at(reads[k]));
    }
    number[operands + i] = rest.operands + rest.steps.size();
    rest.steps.push_back(next);
    rest.done.push_back(done[i]);
  }
  rest.results = {number.at(results.front())};
  return rest;
}

}  // namespace graphline::nn
