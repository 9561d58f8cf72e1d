#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "stages/host_stage.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/operations/greatest.hpp"

namespace graphline {
namespace {

prepared_stage prepare_arg_max(const arguments& given, std::span<const tensor_type> inputs,
                               diagnostics& out) {
  const tensor_type& input = inputs.front();
  const std::size_t rank = input.shape.rank();
  const bool sound = input.element == dtype::float32 && rank >= 2 &&
                     input.shape[rank - 1] <= std::numeric_limits<std::int32_t>::max();
  if (!check_inputs(sound, given, inputs,
                    "arg_max reads float32 [..., C] of at least 2 axes and fewer than 2^31 "
                    "classes C",
                    out)) {
    return {};
  }
  std::vector<std::int64_t> kept;
  for (std::size_t axis = 0; axis + 1 < rank; ++axis) kept.push_back(input.shape[axis]);
  prepared_stage result =
      prepared_moves(inputs, {{shape(kept), dtype::int64}, {shape(kept), dtype::float32}}, {});
  result.cost.flops = input.shape.elements();
  result.known = known_cost::all;
  return result;
}

std::unique_ptr<device_stage> make_host_arg_max(device& /*d*/, const stage_config& /*config*/) {
  return host_stage("arg_max", {"arg_max", "a loop over rows"}, [](const stage_tensors& tensors) {
    const auto* from = tensors.inputs.at(0).as<const float>();
    auto* classes = tensors.outputs.at(0).as<std::int64_t>();
    auto* values = tensors.outputs.at(1).as<float>();
    const std::int64_t rows = tensors.outputs[0].type.shape.elements();
    const std::int64_t extent = tensors.inputs[0].type.shape.elements() / rows;
    return [=] {
#pragma omp parallel for schedule(static)
      for (std::int64_t row = 0; row < rows; ++row) {
        nn::greatest found;
        for (std::int64_t i = 0; i < extent; ++i) {
          found += {from[row * extent + i], static_cast<std::int32_t>(i)};
        }
        classes[row] = found.index;
        values[row] = found.value;
      }
    };
  });
}

}  // namespace

stage_kind arg_max_kind(const device_stage_factory& make_cuda) {
  stage_kind kind =
      kind_named("arg_max", "Find the index of the largest element along the last axis");
  kind.inputs = {{"input", "float32 [..., C]", true}};
  kind.outputs = {{"classes",
                   "int64 [...], index of the greatest element; the first of equal ones, and of "
                   "NaNs, which are greater than all numbers, as in PyTorch",
                   true},
                  {"values", "float32 [...], that element", true}};
  kind.prepare = prepare_arg_max;
  return on_devices(std::move(kind), make_host_arg_max, make_cuda);
}

}  // namespace graphline
