#pragma once

#include "stages/nn/onnx/onnx_import.hpp"

namespace graphline::nn::onnx {

/// Replaces what exporters write out in several nodes by the layer that it is. A layer norm over
/// the last dimension is one, and a product of two values reads them where they lay before they
/// were reordered or scaled, multiplies by the number itself, and writes its result in the order
/// that it is brought in: so attention moves nothing but its scores. The last of the layers becomes
/// that layer, named after those that it stands for; the others stay, read by nobody unless the
/// model reads what they give elsewhere too.
void recognize_patterns(onnx_network& model);

}  // namespace graphline::nn::onnx
