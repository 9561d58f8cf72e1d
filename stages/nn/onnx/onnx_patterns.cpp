#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/nn/layers/shape_rules.hpp"
#include "stages/nn/onnx/onnx_importer.hpp"
#include "stages/nn/operations/movements.hpp"
#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn::onnx {
namespace {

using function = pointwise_function;
using extents_list = std::vector<std::int64_t>;

/// A strided view of another value, times a factor.
struct scaled_view {
  std::size_t base = 0;
  std::int64_t offset = 0;
  extents_list extents;
  extents_list strides;
  double factor = 1;
  std::int64_t flops = 0;  ///< of the multiplication

  /// Returns the view as matrices with contiguous rows or columns; empty if neither is contiguous.
  std::optional<strided_matrices> matrices() const {
    const std::size_t rank = extents.size();
    if (rank < 2 || std::ranges::any_of(strides, [](auto stride) { return stride < 0; })) return {};
    strided_matrices result{shape(extents), strides, offset};
    const auto follow = [&](std::size_t lines, std::size_t along) {
      if (extents[along] > 1 && strides[along] != 1) return false;
      if (extents[lines] > 1 && strides[lines] < extents[along]) return false;
      // Libraries check the strides of dimensions of extent 1, too.
      result.strides[along] = 1;
      if (extents[lines] == 1) result.strides[lines] = extents[along];
      return true;
    };
    if (!follow(rank - 2, rank - 1) && !follow(rank - 1, rank - 2)) return {};
    std::int64_t all = 0;
    for (std::size_t i = rank; i-- > 0;) {
      if (extents[i] == 1 && i + 2 < rank) result.strides[i] = all;
      all = std::max(all, result.strides[i] * extents[i]);
    }
    return seem_apart(result) ? std::optional(std::move(result)) : std::nullopt;
  }

 private:
  /// Returns true if strides and extents alone prove that no elements overlap, as oneDNN requires.
  /// The check is conservative: rows 0, 2 and 4 of five rows seem to span six rows.
  static bool seem_apart(const strided_matrices& of) {
    std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;  // stride and extent
    for (std::size_t i = 0; i < of.strides.size(); ++i) {
      if (of.extents[i] > 1) dimensions.emplace_back(of.strides[i], of.extents[i]);
    }
    std::ranges::sort(dimensions);
    std::int64_t covered = 1;
    for (const auto& [stride, extent] : dimensions) {
      if (stride < covered) return false;
      covered = stride * extent;
    }
    return true;
  }
};

/// Returns the strides of the view in another shape; empty if that shape needs a copy.
std::optional<extents_list> strides_in(const scaled_view& of, const shape& extents) {
  const pointwise_space joined = nn::collapsed({of.extents, {of.strides}});
  std::size_t next = joined.extents.size();
  std::int64_t left = 1;  // elements of a joined dimension
  std::int64_t step = 0;
  extents_list strides(extents.rank(), 0);
  for (std::size_t i = extents.rank(); i-- > 0;) {
    if (left == 1 && extents[i] > 1) {
      left = joined.extents[--next];
      step = joined.strides[0][next];
    }
    if (left % extents[i] != 0) return {};
    strides[i] = step;
    step *= extents[i];
    left /= extents[i];
  }
  return strides;
}

class pattern_finder {
 public:
  explicit pattern_finder(onnx_network& model)
      : network_(model.definition), constants_(model.constants) {
    std::size_t constants = 0;
    for (const network_value& value : network_.values) {
      constant_of_.push_back(value.constant ? constants++ : 0);
    }
    givers_.resize(network_.values.size());
    readers_ = reads_of_values(network_);
    for (std::size_t index = 0; index < network_.layers.size(); ++index) {
      for (const std::size_t value : network_.layers[index].outputs) givers_[value] = index;
    }
  }

  void find() {
    for (network_layer& layer : network_.layers) {
      if (!find_layer_norm(layer) && !take_over_padding(layer) && !take_over_product(layer)) {
        read_in_place(layer);
      }
    }
  }

 private:
  /// A pointwise layer with a constant as its first or second operand.
  struct with_constant {
    const network_layer* layer = nullptr;
    std::size_t x = 0;
    std::size_t constant = 0;
    explicit operator bool() const noexcept { return layer != nullptr; }
  };

  const network_layer* giver(std::size_t value) const {
    return givers_[value] ? &network_.layers[*givers_[value]] : nullptr;
  }
  template <class Layer>
  const network_layer* given_by(std::size_t value) const {
    const network_layer* layer = giver(value);
    const bool found = layer != nullptr && std::holds_alternative<Layer>(layer->operation);
    return found ? layer : nullptr;
  }

  /// Returns the layer that computes a value if it applies function `wanted`; otherwise null.
  const network_layer* pointwise(std::size_t value, function wanted) const {
    const network_layer* layer = given_by<pointwise_layer>(value);
    if (layer == nullptr) return nullptr;
    return std::get<pointwise_layer>(layer->operation).function == wanted ? layer : nullptr;
  }

  with_constant pointwise_with_constant(std::size_t value, function wanted) const {
    const network_layer* layer = pointwise(value, wanted);
    if (layer == nullptr) return {};
    for (const std::size_t which : {1U, 0U}) {
      const std::size_t constant = layer->inputs[which];
      const bool found =
          network_.values[constant].constant && (which == 1 || wanted != function::div);
      if (found) return {layer, layer->inputs[1 - which], constant};
    }
    return {};
  }

  /// Returns the number in a constant with one element; empty for any other value.
  std::optional<double> number(std::size_t value) const {
    if (!network_.values[value].constant || network_.shape_of(value).elements() != 1) return {};
    float found = 0;
    std::memcpy(&found, constants_[constant_of_[value]].data.data(), sizeof(found));
    return found;
  }

  /// Returns x if a value is the mean of x over the last dimension with keep_dims; otherwise empty.
  std::optional<std::size_t> averaged(std::size_t value) const {
    const network_layer* layer = given_by<reduce_layer>(value);
    if (layer == nullptr) return {};
    const auto& mean = std::get<reduce_layer>(layer->operation);
    const std::size_t last = network_.input_of(*layer).rank() - 1;
    const bool found = mean.function == reduce_layer::reduction::mean && mean.keep_dims &&
                       mean.axes == std::vector{last};
    return found ? std::optional(layer->inputs.front()) : std::nullopt;
  }

  /// Returns x if a value is x minus its mean; otherwise empty.
  std::optional<std::size_t> centered(std::size_t value) const {
    const network_layer* layer = pointwise(value, function::sub);
    if (layer == nullptr || averaged(layer->inputs[1]) != layer->inputs[0]) return {};
    return layer->inputs[0];
  }

  /// Turns `last` into a layer that replaces all layers `all`; returns false if that is invalid.
  bool replace(network_layer& last, std::string kind, const layer_operation& operation,
               std::vector<std::size_t> inputs, const std::vector<const network_layer*>& all) {
    diagnostics found;
    layer_problems problems("", last.where, found);
    const layer_input read{"", network_.shape_of(inputs.front())};
    const auto result = problems.result_of([&] {
      return shape_rule(operation, {&read, 1}, problems);
    });
    if (!result || result->output != network_.output_of(last)) return false;
    for (std::size_t i = 0; i < result->weights.size(); ++i) {
      if (network_.shape_of(inputs[i + 1]) != result->weights[i].shape) return false;
    }
    std::string name;
    std::int64_t parameters = 0;
    std::int64_t shared = 0;
    for (const network_layer* each : all) {
      name += (name.empty() ? "" : "+") + each->name;
      parameters += each->cost.parameters;
      shared += each->shared_parameters;
    }
    last.name = std::move(name);
    last.kind = std::move(kind);
    last.operation = operation;
    last.inputs = std::move(inputs);
    last.cost = result->cost;
    last.cost.parameters = parameters;
    last.shared_parameters = shared;
    reads_all(last);
    return true;
  }

  /// Sets a layer's reads to all elements that it reads, and recounts its bytes.
  void reads_all(network_layer& layer) const {
    layer.reads.clear();
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      layer.reads.push_back(elements_read(network_, layer, i));
    }
    count_bytes(network_, layer);
  }

  /// Recognizes (x - mean) / sqrt(mean((x - mean)^2) + eps) * weight + bias.
  bool find_layer_norm(network_layer& last) {
    const auto shifted = pointwise_with_constant(last.outputs.front(), function::add);
    if (!shifted) return false;
    const auto scaled = pointwise_with_constant(shifted.x, function::mul);
    if (!scaled) return false;
    const network_layer* division = pointwise(scaled.x, function::div);
    if (division == nullptr) return false;
    const auto x = centered(division->inputs[0]);
    const network_layer* root = pointwise(division->inputs[1], function::sqrt);
    if (!x || root == nullptr) return false;
    const auto sum = pointwise_with_constant(root->inputs[0], function::add);
    const auto eps = sum ? number(sum.constant) : std::nullopt;
    const auto squares = eps ? averaged(sum.x) : std::nullopt;
    const network_layer* square = squares ? pointwise(*squares, function::mul) : nullptr;
    if (square == nullptr || square->inputs[0] != square->inputs[1] ||
        centered(square->inputs[0]) != x) {
      return false;
    }
    const network_layer* difference = giver(division->inputs[0]);
    return replace(last, "LayerNormalization", layer_norm_layer{.eps = *eps},
                   {*x, scaled.constant, shifted.constant},
                   {giver(difference->inputs[1]), difference, square, giver(sum.x), sum.layer, root,
                    division, scaled.layer, &last});
  }

  /// Lets a convolution or an average without padding add the zeros that the layer before it adds
  /// to images.
  bool take_over_padding(network_layer& last) {
    const network_layer* padding = given_by<pad_layer>(last.inputs.front());
    if (padding == nullptr) return false;
    const auto& pad = std::get<pad_layer>(padding->operation);
    const auto takes = [&](auto& window) {
      const extent_pair none{0, 0};
      if (pad.value != 0 || pad.before.size() != 4 || window.padding != none ||
          window.padding_after.value_or(none) != none) {
        return false;
      }
      const extent_pair most{window.kernel[0] - 1, window.kernel[1] - 1};
      for (std::size_t axis = 0; axis < 4; ++axis) {
        const std::int64_t limit = axis < 2 ? 0 : most[axis - 2];
        if (std::min(pad.before[axis], pad.after[axis]) < 0) return false;
        if (std::max(pad.before[axis], pad.after[axis]) > limit) return false;
      }
      window.padding = {pad.before[2], pad.before[3]};
      window.padding_after = {pad.after[2], pad.after[3]};
      return true;
    };
    layer_operation operation = last.operation;
    auto* conv = std::get_if<conv2d_layer>(&operation);
    auto* pool = std::get_if<pool2d_layer>(&operation);
    if (pool != nullptr && pool->method == pooling::average) {
      pool->count_include_pad = true;
      if (!takes(*pool)) return false;
    } else if (conv == nullptr || !takes(*conv)) {
      return false;
    }
    std::vector<std::size_t> inputs = last.inputs;
    inputs.front() = padding->inputs.front();
    return replace(last, last.kind, operation, std::move(inputs), {padding, &last});
  }

  /// Returns the operands of a layer that multiplies or divides by a single number, and sets
  /// `factor`. Returns empty if the factor could make sums of products overflow or vanish.
  with_constant scaling(const network_layer& layer, double& factor) const {
    const bool divides = pointwise(layer.outputs.front(), function::div) != nullptr;
    const auto found =
        pointwise_with_constant(layer.outputs.front(), divides ? function::div : function::mul);
    const auto by = found ? number(found.constant) : std::nullopt;
    if (!by || network_.shape_of(found.x) != network_.output_of(layer)) return {};
    factor = divides ? 1 / *by : *by;
    const double size = std::abs(factor);
    return size > 1e-6 && size < 1e6 ? found : with_constant();
  }

  /// Updates the view and returns true if the layer only moves or scales its input.
  bool moves_on(scaled_view& view, const network_layer& layer) const {
    const shape& given = network_.output_of(layer);
    if (std::holds_alternative<reshape_layer>(layer.operation)) {
      auto strides = strides_in(view, given);
      if (!strides) return false;
      view.strides = std::move(*strides);
    } else if (const auto* transpose = std::get_if<transpose_layer>(&layer.operation)) {
      view.strides = part_of(*transpose, view.strides).strides;
    } else if (const auto* slice = std::get_if<slice_layer>(&layer.operation)) {
      strided_part part = part_of(*slice, view.strides);
      view.offset += part.begin;
      view.strides = std::move(part.strides);
    } else {
      double factor = 1;
      if (!scaling(layer, factor)) return false;
      view.factor *= factor;
      view.flops += layer.cost.flops;
    }
    view.extents = given.extents();
    return true;
  }

  scaled_view view_of(std::size_t value) const {
    constexpr std::size_t most_steps = 16;  // exporters write at most eight
    const auto whole = [&](std::size_t base) {
      const shape& extents = network_.shape_of(base);
      return scaled_view{base, 0, extents.extents(), packed_strides(extents)};
    };
    std::vector<std::size_t> path{value};
    while (path.size() < most_steps && giver(path.back()) != nullptr) {
      const std::vector<std::size_t>& read = giver(path.back())->inputs;
      path.push_back(network_.values[read.front()].constant ? read.back() : read.front());
    }
    scaled_view view = whole(path.back());
    for (path.pop_back(); !path.empty(); path.pop_back()) {
      if (!moves_on(view, *giver(path.back()))) view = whole(path.back());
    }
    return view;
  }

  /// Turns a layer that scales or transposes a product into the product itself, with the scale or
  /// with a transposed result. Only this layer may read the original product.
  bool take_over_product(network_layer& last) {
    double factor = 1;
    const auto* transpose = std::get_if<transpose_layer>(&last.operation);
    const auto scaled = transpose == nullptr ? scaling(last, factor) : with_constant();
    if (transpose == nullptr && !scaled) return false;
    const std::size_t value = scaled ? scaled.x : last.inputs.front();
    const network_layer* product = given_by<matmul_layer>(value);
    if (product == nullptr || readers_[value] != 1) return false;

    matmul_layer taken = std::get<matmul_layer>(product->operation);
    taken.scale *= static_cast<float>(factor);
    if (transpose != nullptr) {
      const shape& extents = network_.shape_of(value);
      if (taken.product || transpose->order.back() != extents.rank() - 1) return false;
      const auto written = packed_strides(network_.output_of(last));
      taken.product = {extents, written};
      for (std::size_t i = 0; i < written.size(); ++i) {
        taken.product->strides[transpose->order[i]] = written[i];
      }
    }
    last.name = product->name + "+" + last.name;
    last.kind = product->kind;
    last.operation = std::move(taken);
    last.inputs = product->inputs;
    last.reads = product->reads;
    const std::int64_t flops = last.cost.flops;
    last.cost = product->cost;
    last.cost.flops += flops;
    count_bytes(network_, last);
    return true;
  }

  /// Lets a product skip layers that only move or scale its matrices, and read their inputs
  /// directly.
  void read_in_place(network_layer& layer) {
    auto* product = std::get_if<matmul_layer>(&layer.operation);
    if (product == nullptr) return;
    for (const std::size_t which : {0U, 1U}) {
      const scaled_view view = view_of(layer.inputs[which]);
      auto matrices = view.matrices();
      if (view.base == layer.inputs[which] || !matrices) continue;
      (which == 0 ? product->a : product->b) = std::move(matrices);
      product->scale *= static_cast<float>(view.factor);
      layer.inputs[which] = view.base;
      layer.reads[which] = elements_read(network_, layer, which);
      layer.cost.flops += view.flops;
    }
    count_bytes(network_, layer);
  }

  network_definition& network_;
  const std::vector<named_tensor>& constants_;
  std::vector<std::size_t> constant_of_;            ///< per value: its index among the constants
  std::vector<std::optional<std::size_t>> givers_;  ///< per value: the layer that computes it
  std::vector<std::size_t> readers_;                ///< per value: number of reads
};

}  // namespace

void recognize_patterns(onnx_network& model) {
  pattern_finder(model).find();
}

}  // namespace graphline::nn::onnx
