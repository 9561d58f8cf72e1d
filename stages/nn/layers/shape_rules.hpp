#pragma once

#include <fmt/format.h>

#include <exception>
#include <optional>
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

/// Distribution of a weight that is drawn from a seed.
struct initial_value {
  enum class rule {
    scaled,   ///< uniform, scaled by the gain of the activation after the layer
    uniform,  ///< uniform in [-bound, bound]
    zeros,
    ones,
  };
  rule drawn = rule::zeros;
  double bound = 0;  ///< largest magnitude, for `scaled` and `uniform`
};

/// A float32 weight that a layer needs.
struct weight_spec {
  std::string name;  ///< "weight"
  graphline::shape shape;
  initial_value initial;
};

/// Shape of an input and the name of its producer, for messages.
struct layer_input {
  std::string giver;  ///< "layer 'conv1'" or "the network's input"
  graphline::shape shape;
};
using layer_inputs = std::span<const layer_input>;

/// Output shapes, cost and weights that follow from a layer's input shapes.
struct layer_shape {
  graphline::shape output = {};
  std::vector<graphline::shape> further = {};  ///< second and later outputs
  dtype element = dtype::float32;              ///< of all outputs
  graphline::cost cost = {};  ///< arithmetic; parameters and bytes follow from the inputs
  std::vector<weight_spec> weights = {};  ///< appended to the inputs in this order
};

/// Reports errors found by a layer's reader and shape rule. Every message starts with the layer.
class layer_problems {
 public:
  /// `subject` names the layer in messages: "conv2d" or "conv2d 'stem'". `values` contains the
  /// parameters from YAML with their places; without it, all errors are reported at `where`.
  layer_problems(std::string subject, const place& where, diagnostics& out,
                 const arguments* values = nullptr)
      : subject_(std::move(subject)), where_(where), values_(values), out_(out) {}

  /// Reports "SUBJECT MESSAGE" at a parameter, or at the layer if the parameter was not given.
  template <class... Values>
  void report_at(std::string_view parameter, fmt::format_string<Values...> message,
                 Values&&... values) {
    any_ = true;
    const bool given = values_ != nullptr && values_->has(parameter);
    out_.error(given ? values_->where(parameter) : where_,
               subject_ + " " + fmt::format(message, std::forward<Values>(values)...));
  }

  /// Report likewise, and end the reader or shape rule that `result_of` calls.
  template <class... Values>
  [[noreturn]] void refuse_at(std::string_view parameter, fmt::format_string<Values...> message,
                              Values&&... values) {
    report_at(parameter, message, std::forward<Values>(values)...);
    throw refused();
  }
  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> message, Values&&... values) {
    refuse_at("", message, std::forward<Values>(values)...);
  }

  /// Returns the result of a reader or shape rule; empty if anything was reported.
  template <class Rule>
  auto result_of(const Rule& rule) -> std::optional<decltype(rule())> {
    try {
      auto result = rule();
      if (!any_) return result;
    } catch (const refused&) {
    }
    return {};
  }

 private:
  struct refused : std::exception {};

  std::string subject_;
  place where_;
  const arguments* values_;
  diagnostics& out_;
  bool any_ = false;
};

/// Returns output shapes, cost and weights of an operation; `inputs` excludes weights. To be called
/// within `result_of`.
layer_shape shape_rule(const layer_operation& operation, layer_inputs inputs,
                       layer_problems& problems);

}  // namespace graphline::nn
