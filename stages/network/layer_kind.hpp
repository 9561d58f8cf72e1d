#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/network/operations.hpp"
#include "stages/network/shape_rules.hpp"

namespace graphline {

/// A kind of layer in YAML, as data: its parameters and how they become an operation.
struct layer_kind {
  std::string name;      ///< "conv2d"
  std::string headline;  ///< one line for `graphline stages network`
  std::vector<parameter> parameters;

  /// Makes the operation of parameters that passed the check against `parameters`.
  std::function<layer_operation(const arguments&, layer_problems&)> read;

  /// The same where it depends on the shapes that the layer reads; `read` is unset then.
  std::function<layer_operation(const arguments&, std::span<const layer_input>, layer_problems&)>
      fit = {};
};

/// Every kind of layer, in the order of the manual.
const std::vector<layer_kind>& layer_kinds();

/// A layer as it was written, with its parameters checked but no shapes yet.
struct layer_entry {
  const layer_kind* kind = nullptr;  ///< null when unknown
  arguments values = {};
  bool sound = false;  ///< its kind is known and its parameters are right
  std::optional<layer_operation> operation = {};  ///< set where it is sound and its kind has `read`
  std::string given_name = {};                    ///< empty for none
  std::vector<named> reads = {};  ///< earlier layers or inputs; the layer before when empty
  std::string subject = {};       ///< in messages: "conv2d" or "conv2d 'stem'"
  graphline::place place = {};
};

/// What a layer of this kind takes: its own parameters, and those of every layer.
std::vector<parameter> parameters_of(const layer_kind& kind);

/// Reads an entry of `layers`: a kind's name, or a mapping of that one key to its parameters.
layer_entry read_layer(const node& written, diagnostics& out);

}  // namespace graphline
