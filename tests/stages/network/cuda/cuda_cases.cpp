#include "tests/stages/network/cuda/cuda_cases.hpp"

#include <algorithm>
#include <set>

#include "stages/network/layer_kind.hpp"

namespace graphline::test {

namespace {

/// The cases with one input and one output that lack these on `cuda`, and no others.
std::vector<reference_case> cases_that_lack(const std::set<std::string>& wanted) {
  std::vector<reference_case> cases = reference_cases();
  std::erase_if(cases, [&](const reference_case& one) {
    std::set<std::string> lacks;
    const auto look_for = [&lacks](const std::string& name) {
      if (std::ranges::count(layers_not_on_cuda(), name) > 0) lacks.insert(name);
    };
    look_for(one.name);
    for (const node& layer : one.values.tree("layers").items()) {
      diagnostics ignored;
      look_for(read_layer(layer, ignored).kind->name);
    }
    return lacks != wanted || one.inputs.size() > 1 || one.outputs.size() > 1;
  });
  return cases;
}

}  // namespace

const std::vector<std::string>& layers_not_on_cuda() {
  static const std::vector<std::string> kinds{
      "tanh",     "hardsigmoid", "hardswish", "leaky_relu",    "conv_transpose2d",
      "upsample", "reshape",     "permute",   "slice",         "concat",
      "sub",      "mul",         "div",       "add_broadcast", "zero_pad2d"};
  return kinds;
}

std::vector<reference_case> cases_on_cuda() {
  return cases_that_lack({});
}

std::vector<reference_case> cases_with_only(const std::string& kind) {
  return cases_that_lack({kind});
}

}  // namespace graphline::test
