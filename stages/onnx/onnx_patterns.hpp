#pragma once

#include "stages/onnx/onnx_import.hpp"

namespace graphline::onnx {

/// Replaces what exporters write out in several nodes by the layer that it is: a layer norm over
/// the last dimension, and attention over queries, keys and values from one product. The last of
/// the layers becomes that layer, named after all of them; the others stay, read by nobody unless
/// the model reads what they give elsewhere too.
void recognize_patterns(onnx_network& model);

}  // namespace graphline::onnx
