#include "stages/nn/layers/layer_kind.hpp"

#include <algorithm>
#include <iterator>

#include "stages/nn/layers/layers.hpp"

namespace graphline::nn {
namespace {

const parameter name_parameter{
    .name = "name",
    .type = parameter_type::tree,
    .help =
        "Name of the layer: prefix of its weights, and its name for other layers and in tables.",
    .structure = "name"};

const parameter reads_parameter{
    .name = "reads",
    .type = parameter_type::tree,
    .help = "Earlier layer or network input to read; the previous layer by default.",
    .structure = "name"};

}  // namespace

const std::vector<layer_kind>& layer_kinds() {
  static const std::vector<layer_kind> kinds = [] {
    std::vector<layer_kind> all;
    for (const auto& family :
         {product_kinds, element_wise_kinds, pooling_kinds, resizing_kinds, tensor_kinds}) {
      std::ranges::move(family(), std::back_inserter(all));
    }
    return all;
  }();
  return kinds;
}

std::vector<parameter> parameters_of(const layer_kind& kind) {
  std::vector<parameter> all = kind.parameters;
  all.push_back(name_parameter);
  if (find_parameter(all, "reads") == nullptr) all.push_back(reads_parameter);
  return all;
}

}  // namespace graphline::nn
