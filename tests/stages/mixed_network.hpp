#pragma once

namespace graphline {

/// A network with reorders, fused and unfused steps and one of Graphline's pools.
inline constexpr const char* mixed_network = R"(
layers:
  - conv2d: {out_channels: 24, kernel: 3, padding: 1, name: stem}
  - batch_norm2d
  - relu
  - conv2d: {out_channels: 24, kernel: 3, padding: 1}
  - add: {from: stem}
  - silu
  - adaptive_avg_pool2d: {output: 3}
  - flatten
  - linear: {out_features: 10}
  - softmax
)";

}  // namespace graphline
