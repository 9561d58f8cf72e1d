#include "stages/network/layer_kind.hpp"

#include "stages/network/layers/kinds.hpp"

namespace graphline {

const std::vector<layer_kind>& layer_kinds() {
  static const std::vector<layer_kind> kinds = {conv2d_kind(),       linear_kind(),
                                                relu_kind(),         relu6_kind(),
                                                gelu_kind(),         sigmoid_kind(),
                                                silu_kind(),         softmax_kind(),
                                                batch_norm2d_kind(), layer_norm_kind(),
                                                attention_kind(),    max_pool2d_kind(),
                                                avg_pool2d_kind(),   adaptive_avg_pool2d_kind(),
                                                flatten_kind(),      add_kind()};
  return kinds;
}

const layer_kind* find_layer_kind(std::string_view name) {
  for (const layer_kind& kind : layer_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace graphline
