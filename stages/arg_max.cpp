#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "stages/kinds.hpp"

namespace graphline {
namespace {

prepared_stage prepare_arg_max(const arguments& given, std::span<const tensor_type> inputs,
                               diagnostics& out) {
  const tensor_type& input = inputs.front();
  const std::size_t rank = input.shape.rank();
  if (input.element != dtype::float32 || rank < 2 ||
      input.shape[rank - 1] > std::numeric_limits<std::int32_t>::max()) {
    out.error(given.where(), fmt::format("arg_max reads float32 [..., C] of at least 2 axes and "
                                         "fewer than 2^31 classes C; found {}",
                                         to_string(input)));
    return {};
  }
  std::vector<std::int64_t> kept;
  for (std::size_t axis = 0; axis + 1 < rank; ++axis) kept.push_back(input.shape[axis]);
  prepared_stage result;
  result.outputs = {{shape(kept), dtype::int64}, {shape(kept), dtype::float32}};
  result.cost.flops = input.shape.elements();
  result.cost.bytes_read = static_cast<std::int64_t>(input.bytes());
  for (const tensor_type& output : result.outputs) {
    result.cost.bytes_written += static_cast<std::int64_t>(output.bytes());
  }
  result.known = known_cost::all;
  return result;
}

}  // namespace

stage_kind arg_max_kind(const device_stage_factory& make_cuda) {
  stage_kind kind;
  kind.name = "arg_max";
  kind.headline = "Find the index of the largest element along the last axis";
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
