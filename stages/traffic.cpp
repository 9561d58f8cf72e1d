#include "stages/traffic.hpp"

#include <fmt/format.h>

#include "stages/kinds.hpp"

namespace graphline {

namespace {

prepared_stage prepare_traffic(const arguments& values, std::span<const tensor_type> inputs,
                               diagnostics& out) {
  const tensor_type& input = inputs.front();
  if (input.element != dtype::float32) {
    out.error(values.where(), fmt::format("traffic reads float32, but its input is {}; declare "
                                          "that as float32",
                                          to_string(input)));
    return {};
  }
  const traffic_method method = traffic_method_of(values);
  prepared_stage result;
  result.outputs = {method == traffic_method::read ? tensor_type{shape{1}, dtype::float32} : input};
  result.cost = traffic_cost(method, input.shape.elements());
  result.known = known_cost::all;
  return result;
}

}  // namespace

traffic_method traffic_method_of(const arguments& values) {
  const std::string method = values.text("method");
  if (method == "write") return traffic_method::write;
  return method == "copy" ? traffic_method::copy : traffic_method::read;
}

cost traffic_cost(traffic_method method, std::int64_t elements) {
  if (method == traffic_method::copy) {
    return {.bytes_read = 4 * elements, .bytes_written = 4 * elements};
  }
  if (method == traffic_method::write) return {.bytes_written = 4 * elements};
  return {.flops = elements, .bytes_read = 4 * elements, .bytes_written = 4};
}

stage_kind traffic_kind(const device_stage_factory& make_cuda) {
  stage_kind kind = kind_named(
      "traffic",
      "Memory traffic: reads a tensor, writes one, or copies one, as fast as the device can");
  kind.inputs = {{"input", "Any tensor in float32."}};
  kind.outputs = {{"output",
                   "The same tensor for copy, zeros in its shape for write. For read [1] in "
                   "float32, the sum of all elements: many sums in float32 that are added up in "
                   "the end, the same in every run."}};
  kind.parameters = {{.name = "method",
                      .type = parameter_type::choice,
                      .help = "Whether every element is only read, only written, or both.",
                      .default_value = "copy",
                      .choices = {"read", "write", "copy"}}};
  kind.prepare = prepare_traffic;
  return on_devices(std::move(kind), make_host_traffic, make_cuda);
}

}  // namespace graphline
