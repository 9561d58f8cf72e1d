#include "stages/nn/host/lowering.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <stdexcept>
#include <variant>

#include "framework/base/error.hpp"

namespace graphline::nn {

host_program lower_network_for_host(const network_definition& network, const weight_table& weights,
                                    const host_target& target) {
  host_lowering lowering(network, weights, target.owner);
  for (const layer_group& group : group_layers(network)) {
    const network_layer& head = network.layers[group.head];
    try {
      std::visit(
          [&](const auto& operation) {
            if constexpr (requires { lower(lowering, group, operation); }) {
              lower(lowering, group, operation);
            } else {
              lower_element_wise(lowering, group);
            }
          },
          head.operation);
      lowering.end_part(group);
    } catch (const dnnl::error& e) {
      throw run_error(fmt::format("{}: oneDNN cannot prepare it for {}: {} ({})",
                                  lowering.owner(head), to_string(network.input_of(head)), e.what(),
                                  dnnl_status2str(e.status)));
    }
  }
  host_program made = lowering.finish(target.asked);
  made.flush_denormals = target.flush_denormals;
  if (!made.flush_denormals) {
    for (program_part& part : made.parts) part.choice += "; keeps denormals";
  }
  return made;
}

std::vector<std::vector<float>> evaluate_on_host(const network_definition& network,
                                                 const weight_table& weights) {
  struct one_thread {
    int before = omp_get_max_threads();
    one_thread() { omp_set_num_threads(1); }
    ~one_thread() { omp_set_num_threads(before); }
  };
  const one_thread alone;
  host_program made =
      lower_network_for_host(network, weights, {.owner = "constants", .flush_denormals = false});
  std::pmr::monotonic_buffer_resource memory;
  const auto block = [&](std::size_t bytes) {
    return static_cast<std::byte*>(memory.allocate(bytes, 256));
  };
  std::byte* const constants = block(made.weights_bytes);
  std::vector<std::vector<float>> outputs;
  std::vector<tensor_view> views;
  for (const std::size_t value : network.outputs) {
    const tensor_type& type = network.values[value].type;
    outputs.emplace_back(static_cast<std::size_t>(type.shape.elements()));
    views.push_back({outputs.back().data(), type});
  }
  made.load_constants(constants);
  const std::vector<std::byte*> addresses = made.weights_in(constants);
  for (const auto& step : made.bind({{}, views, addresses, block(made.scratch_bytes)})) step->run();
  return outputs;
}

host_lowering::host_lowering(const network_definition& network, const weight_table& weights,
                             std::string owner)
    : network_lowering(network, weights, std::move(owner), ", ", {}),
      values_(network.values.size()) {
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const dnnl::memory::desc layout = plain_layout(network.shape_of(network.inputs[i]));
    values_[network.inputs[i]] = {program_.add_buffer(buffer_place::input, layout.get_size(), i),
                                  layout};
  }
}

const host_value& host_lowering::value(std::size_t index) {
  host_value& value = values_[index];
  if (value.layout.is_zero()) {
    const shape& extents = network().shape_of(index);
    value = constant(weights().of(index), extents);
  }
  return value;
}

host_value host_lowering::plain_input_of(const network_layer& layer, std::size_t which) {
  return in_layout(input_of(layer, which), plain_layout(network().shape_of(layer.inputs[which])),
                   layer);
}

host_value host_lowering::make_tensor(const dnnl::memory::desc& layout) {
  return {program_.add_buffer(buffer_place::scratch, layout.get_size()), layout};
}

bool host_lowering::lay_within(const host_value& tensor, const host_value& whole,
                               std::size_t offset) {
  program_buffer& buffer = program_.buffers[tensor.buffer];
  if (buffer.place != buffer_place::scratch || buffer.within) return false;
  buffer.within = whole.buffer;
  buffer.offset = offset;
  return true;
}

void host_lowering::add_reorder(const host_value& from, const host_value& to,
                                const network_layer& layer) {
  const dnnl::reorder::primitive_desc chosen(onednn_engine(), from.layout, onednn_engine(),
                                             to.layout, onednn_attributes());
  add_primitive<dnnl::reorder>("reorder", layer, chosen,
                               {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

host_value host_lowering::in_layout(const host_value& tensor, const dnnl::memory::desc& wanted,
                                    const network_layer& layer) {
  if (tensor.layout == wanted) return tensor;
  host_value result = make_tensor(wanted);
  add_reorder(tensor, result, layer);
  return result;
}

host_value host_lowering::in_shape(const host_value& tensor, const shape& wanted,
                                   const network_layer& layer) {
  const shape given(tensor.layout.dims());
  if (given == wanted) return tensor;
  return {in_layout(tensor, plain_layout(given), layer).buffer, plain_layout(wanted)};
}

host_value host_lowering::constant(std::vector<float> values, const dnnl::memory::desc& given,
                                   const dnnl::memory::desc& wanted) {
  // Layers may share weights.
  const auto equal = std::ranges::find_if(program_.constants, [&](const host_constant& other) {
    return have_equal_bytes(std::as_bytes(std::span(other.values)),
                            std::as_bytes(std::span(values))) &&
           other.given == given && other.wanted == wanted;
  });
  if (equal != program_.constants.end()) return {equal->buffer, wanted};
  const std::size_t buffer = program_.add_buffer(buffer_place::weights, wanted.get_size());
  program_.constants.push_back({buffer, given, wanted, std::move(values)});
  return {buffer, wanted};
}

host_value host_lowering::vector_of(const network_layer& layer, std::size_t input) {
  const std::span<const float> values = weights().of(layer, input);
  return constant(values, shape{static_cast<std::int64_t>(values.size())});
}

void host_lowering::add_loops(std::string_view content, std::string_view kind,
                              std::vector<host_operand> from, const std::vector<host_operand>& to,
                              host_loops loops) {
  program_.add_loops(fmt::format("{} [{}]", content, kind), std::move(from), to, std::move(loops));
  note(program_.steps.back().name);
}

std::vector<host_operand> host_lowering::make_outputs(const network_layer& of) {
  std::vector<host_operand> made;
  for (const std::size_t output : of.outputs) {
    set_value(output, make_tensor(plain_layout(network().shape_of(output))));
    made.emplace_back(value(output));
  }
  return made;
}

void host_lowering::add_layer_loops(std::size_t index, host_loops loops,
                                    const std::vector<host_operand>& checks) {
  const network_layer& of = layer(index);
  std::vector<host_operand> from;
  for (std::size_t i = 0; i < of.inputs.size(); ++i) from.emplace_back(plain_input_of(of, i));
  std::vector<host_operand> to = make_outputs(of);
  to.insert(to.end(), checks.begin(), checks.end());
  add_loops(of.kind, "loops", std::move(from), to, std::move(loops));
}

void host_lowering::end_part(const layer_group& group) {
  for (const std::size_t i : outputs_of(group)) {
    host_value& given = values_[network().outputs[i]];
    const dnnl::memory::desc plain = plain_layout(network().shape_of(network().outputs[i]));
    program_buffer& buffer = program_.buffers[given.buffer];
    const bool own = buffer.place == buffer_place::scratch && !buffer.within;
    if (own && given.layout == plain) {
      buffer.place = buffer_place::output;
      buffer.tensor = i;
      continue;
    }
    const host_value result{program_.add_buffer(buffer_place::output, plain.get_size(), i), plain};
    add_reorder(given, result, layer(group.last()));
  }
  add_part(program_, group, program_.steps.size());
}

host_program host_lowering::finish(precision asked) {
  auto step = program_.steps.begin();
  for (program_part& part : program_.parts) {
    const auto end = program_.steps.begin() + static_cast<std::ptrdiff_t>(part.end_steps);
    const bool loops =
        std::all_of(step, end, [](const host_step& each) { return each.name.ends_with("loops]"); });
    if (!loops) part.choice.insert(0, "oneDNN ");
    if (asked != precision::float32) {
      part.choice += fmt::format("; in float32, host has no {}", to_word(asked));
    }
    step = end;
  }
  program_.place_buffers();
  return std::move(program_);
}

}  // namespace graphline::nn
