#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/nn/layers/layer_kind.hpp"

namespace graphline::nn {

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

/// Reads an entry of `layers`: a kind's name, or a mapping of that one key to its parameters.
layer_entry read_layer(const node& written, diagnostics& out);

}  // namespace graphline::nn
