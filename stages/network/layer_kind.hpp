#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "framework/stage/stage.hpp"
#include "stages/network/operations.hpp"

namespace graphline {

/// What a weight starts as when it is drawn from a seed.
enum class initial_value {
  scaled,   ///< uniform, with the gain of the activation that follows the layer
  uniform,  ///< in [-bound, bound]
  zeros,
  ones,
};

/// A float32 weight that a layer needs.
struct weight_spec {
  std::string name;  ///< "weight"; in a network definition with the layer in front: "0.weight"
  graphline::shape shape;
  initial_value initial = initial_value::uniform;
  double bound = 0;  ///< `scaled` and `uniform`: drawn from [-bound, bound]
};

/// What a layer reads: the shape, and for messages who gives it.
struct layer_input {
  std::string giver;  ///< "layer 'conv1'" or "the network's input"
  graphline::shape shape;
};

/// What follows from a layer's operation and the shapes it reads.
struct layer_shape {
  graphline::shape output = {};
  graphline::cost cost = {};  ///< without the parameters, which follow from the weights
  std::vector<weight_spec> weights = {};
};

/// Where a layer's reader and shape rule report what is wrong. Every message starts with the layer.
class layer_problems {
 public:
  /// `subject` is how messages call the layer: "conv2d" or "conv2d 'stem'".
  layer_problems(std::string subject, const arguments& values, diagnostics& out)
      : subject_(std::move(subject)), values_(values), out_(out) {}

  /// Reports "SUBJECT MESSAGE" at the layer, or at one of its parameters.
  void report(const std::string& message) { add(values_.where(), message); }
  void report_at(std::string_view parameter, const std::string& message) {
    add(values_.has(parameter) ? values_.where(parameter) : values_.where(), message);
  }

  bool any() const noexcept { return any_; }

 private:
  void add(const place& where, const std::string& message) {
    any_ = true;
    out_.error(where, subject_ + " " + message);
  }

  std::string subject_;
  const arguments& values_;
  diagnostics& out_;
  bool any_ = false;
};

/// A kind of layer, as data: its parameters, how they become an operation, and its shape rule.
struct layer_kind {
  std::string name;      ///< "conv2d"
  std::string headline;  ///< one line for `graphline stages network`
  std::vector<parameter> parameters;

  /// Makes the operation of parameters that passed the check against `parameters`.
  std::function<layer_operation(const arguments&, layer_problems&)> read;

  /// Output shape, cost and weights. Reports and returns anything when the shapes do not fit.
  /// `inputs` holds what it reads; for `add` the other operand too.
  std::function<layer_shape(const layer_operation&, std::span<const layer_input> inputs,
                            layer_problems&)>
      infer;
};

/// A kind whose functions deal in their own operation type instead of the variant.
template <class Operation, class Read>
layer_kind make_layer_kind(std::string name, std::string headline,
                           std::vector<parameter> parameters, const Read& read,
                           layer_shape (*infer)(const Operation&, std::span<const layer_input>,
                                                layer_problems&)) {
  return {std::move(name), std::move(headline), std::move(parameters),
          [read](const arguments& values, layer_problems& problems) -> layer_operation {
            return read(values, problems);
          },
          [infer](const layer_operation& operation, std::span<const layer_input> inputs,
                  layer_problems& problems) {
            return infer(std::get<Operation>(operation), inputs, problems);
          }};
}

/// Every kind of layer, in the order of the manual.
const std::vector<layer_kind>& layer_kinds();

/// A layer as it was written, with its parameters checked but no shapes yet.
struct layer_entry {
  const layer_kind* kind = nullptr;  ///< null when unknown
  arguments values = {};
  std::optional<layer_operation> operation = {};  ///< unset when its parameters were wrong
  std::string given_name = {};                    ///< empty for none
  std::optional<std::string> reads = {};          ///< an earlier layer; the one before when unset
  std::string subject = {};                       ///< in messages: "conv2d" or "conv2d 'stem'"
  graphline::place place = {};
};

/// What a layer of this kind takes: its own parameters, and those of every layer.
std::vector<parameter> parameters_of(const layer_kind& kind);

/// Reads an entry of `layers`: a kind's name, or a mapping of that one key to its parameters.
layer_entry read_layer(const node& written, diagnostics& out);

}  // namespace graphline
