#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/nn/operations/layer_operation.hpp"

namespace graphline::nn {

/// What a weight starts as when it is drawn from a seed.
struct initial_value {
  enum class rule {
    scaled,   ///< uniform, with the gain of the activation that follows the layer
    uniform,  ///< in [-bound, bound]
    zeros,
    ones,
  };
  rule drawn = rule::zeros;
  double bound = 0;  ///< `scaled` and `uniform`: from [-bound, bound]
};

/// A float32 weight that a layer needs.
struct weight_spec {
  std::string name;  ///< "weight"
  graphline::shape shape;
  initial_value initial;
};

/// What a layer reads: the shape, and for messages who gives it.
struct layer_input {
  std::string giver;  ///< "layer 'conv1'" or "the network's input"
  graphline::shape shape;
};

/// What follows from a layer's operation and the shapes it reads.
struct layer_shape {
  graphline::shape output = {};
  std::vector<graphline::shape> further = {};  ///< what it gives after that
  graphline::cost cost = {};  ///< its arithmetic: parameters and bytes follow from what it reads
  std::vector<weight_spec> weights = {};  ///< read after its inputs, in this order
};

/// Where a layer's reader and shape rule report what is wrong. Every message starts with the layer.
class layer_problems {
 public:
  /// `subject` is how messages call the layer: "conv2d" or "conv2d 'stem'". `values` are the
  /// parameters that a YAML file gives, each with its place.
  layer_problems(std::string subject, const arguments& values, diagnostics& out)
      : subject_(std::move(subject)), where_(values.where()), values_(&values), out_(out) {}

  /// All at one place.
  layer_problems(std::string subject, const place& where, diagnostics& out)
      : subject_(std::move(subject)), where_(where), out_(out) {}

  /// Reports "SUBJECT MESSAGE" at the layer, or at one of its parameters.
  void report(const std::string& message) { add(where_, message); }
  void report_at(std::string_view parameter, const std::string& message) {
    const bool given = values_ != nullptr && values_->has(parameter);
    add(given ? values_->where(parameter) : where_, message);
  }

  bool any() const noexcept { return any_; }

 private:
  void add(const place& where, const std::string& message) {
    any_ = true;
    out_.error(where, subject_ + " " + message);
  }

  std::string subject_;
  place where_;
  const arguments* values_ = nullptr;
  diagnostics& out_;
  bool any_ = false;
};

/// Output shapes, cost and weights of a layer that reads `inputs`, its weights apart. Reports and
/// returns anything when the shapes do not fit.
layer_shape shape_rule(const layer_operation& operation, std::span<const layer_input> inputs,
                       layer_problems& problems);

}  // namespace graphline::nn
