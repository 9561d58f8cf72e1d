#include "stages/network/cuda/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "stages/network/layer_reader.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {
namespace {

/// A channels-last image as so many rows of channels.
std::int64_t pixels_of(const shape& s) {
  return s[2] * s[3];
}

/// Whether the elements of such a tensor follow each other alike in both layouts.
bool layouts_coincide(const shape& s) {
  return s.rank() != 4 || s[1] == 1 || pixels_of(s) == 1;
}

convert_form conversion(const value_form& from, const value_form& to, const shape& s) {
  convert_form form{.from = from.element, .to = to.element};
  const bool in_order = from.layout == to.layout || layouts_coincide(s);
  if (in_order && to.padded_channels == 0) {
    form.rows = form.padded_rows = s.elements();
  } else if (from.layout == tensor_layout::channels_last && in_order) {
    form.batch = s[0] * pixels_of(s);
    form.rows = s[1];
    form.padded_rows = to.padded_channels;
  } else if (to.layout == tensor_layout::channels_last) {
    form.batch = s[0];
    form.rows = s[1];
    form.columns = pixels_of(s);
    form.padded_rows = to.padded_channels > 0 ? to.padded_channels : s[1];
  } else {
    form.batch = s[0];
    form.rows = form.padded_rows = pixels_of(s);
    form.columns = s[1];
  }
  return form;
}

std::string describe(const value_form& form) {
  std::string text(to_string(form.element));
  if (form.layout == tensor_layout::channels_last) text += " with channels last";
  if (form.padded_channels > 0) text += fmt::format(", {} of them", form.padded_channels);
  return text;
}

/// The links as a message lists them: "bias, gelu".
std::string describe(const network_definition& network, std::span<const tail_link> links) {
  std::string text;
  for (const tail_link& link : links) {
    if (!text.empty()) text += ", ";
    text += link.what == tail_link::kind::bias ? "bias" : network.layers[link.layer].kind;
  }
  return text;
}

/// Takes as many links from the front as one kernel can apply.
std::size_t take_links(pointwise_form& form, std::span<const tail_link> links) {
  std::size_t taken = 0;
  for (const tail_link& link : links) {
    std::vector<activation>& chain = form.add ? form.after : form.before;
    const bool fits = link.what == tail_link::kind::add    ? !form.add
                      : link.what == tail_link::kind::bias ? taken == 0
                                                           : chain.size() < longest_chain;
    if (!fits) break;
    if (link.what == tail_link::kind::add) {
      form.add = true;
    } else if (link.what == tail_link::kind::bias) {
      form.shift = true;
    } else {
      chain.push_back(link.function);
    }
    ++taken;
  }
  return taken;
}

/// The forms of a stage's tensors; no layout stated is row-major.
std::vector<value_form> forms_of(const std::vector<tensor_type>& types,
                                 const std::vector<tensor_layout>& layouts) {
  std::vector<value_form> forms;
  for (std::size_t i = 0; i < types.size(); ++i) {
    forms.push_back({layouts.empty() ? tensor_layout::row_major : layouts[i], types[i].element});
  }
  return forms;
}

}  // namespace

cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target) {
  cuda_program_builder builder(network, weights, target);
  for (const fused_layers& group : fuse_layers(network)) {
    const network_layer& head = network.layers[group.head];
    std::visit(
        [&](const auto& operation) {
          if constexpr (requires { lower(builder, group, operation); }) {
            lower(builder, group, operation);
          } else {
            builder.refuse(head, "there is no kernel for it yet");
          }
        },
        head.operation);
    builder.end_part(group);
  }
  return builder.finish();
}

cuda_program_builder::cuda_program_builder(const network_definition& network,
                                           const weight_table& weights, const cuda_target& target)
    : network_builder(network, weights, target.stage, "; ",
                      {.input = size_of(target.inputs.at(0).element),
                       .output = size_of(target.outputs.at(0).element),
                       .inside = element_bytes(target.precision)}),
      target_(target),
      values_(network.values.size()) {
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const value_form& form = target_.inputs.at(i);
    const tensor_type given{network.shape_of(network.inputs[i]), form.element};
    values_[network.inputs[i]] = {
        {program_.add_buffer(buffer_place::input, given.bytes(), i), form}};
  }
}

const cuda_value* cuda_program_builder::find_form(std::size_t index, const value_form& form) const {
  const bool any_layout = form.padded_channels == 0 && layouts_coincide(network().shape_of(index));
  for (const cuda_value& value : values_[index]) {
    const bool alike = any_layout
                           ? value.form.element == form.element && value.form.padded_channels == 0
                           : value.form == form;
    if (alike) return &value;
  }
  return nullptr;
}

cuda_value cuda_program_builder::in_form(std::size_t index, const value_form& form,
                                         const network_layer& reader) {
  if (const cuda_value* found = find_form(index, form)) return {found->buffer, form};
  const shape& s = network().shape_of(index);
  std::int64_t elements = s.elements();
  if (form.padded_channels > 0) elements = elements / s[1] * form.padded_channels;
  const cuda_value made = make_value(elements, form);
  add_conversion(value(index), made, s, reader);
  values_[index].push_back(made);
  return made;
}

void cuda_program_builder::add_conversion(const cuda_value& from, const cuda_value& to,
                                          const shape& s, const network_layer& reader) {
  add_kernel(conversion(from.form, to.form, s), {from.buffer, to.buffer}, reader);
  note(fmt::format("conversion to {}", describe(to.form)));
}

dtype cuda_program_builder::result_element(std::size_t layer, tensor_layout layout) const {
  const std::size_t given = network().layers[layer].outputs.front();
  const auto found = std::ranges::find(network().outputs, given);
  if (found == network().outputs.end()) return element();
  const value_form& wanted =
      target_.outputs.at(static_cast<std::size_t>(found - network().outputs.begin()));
  const bool in_place = layout == wanted.layout || layouts_coincide(network().shape_of(given));
  return in_place ? wanted.element : element();
}

cuda_value cuda_program_builder::make_value(std::int64_t elements, const value_form& form) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(form.element);
  return {program_.add_buffer(buffer_place::scratch, bytes), form};
}

std::size_t cuda_program_builder::constant(std::vector<float> values, dtype element) {
  const std::size_t buffer =
      program_.add_buffer(buffer_place::weights, values.size() * size_of(element));
  program_.constants.push_back({buffer, element, std::move(values)});
  return buffer;
}

void cuda_program_builder::add_calls(std::unique_ptr<library_operation> operation,
                                     std::vector<std::vector<cuda_operand>> calls,
                                     const network_layer& layer) {
  note(describe_calls(*operation, calls.size()));
  program_.add_calls(std::move(operation), std::move(calls), owner(layer));
}

void cuda_program_builder::refuse(const network_layer& layer, const std::string& why_not) const {
  throw run_error(
      fmt::format("{}: no implementation in {} for {}: {}; another 'precision' may have one",
                  owner(layer), to_word(precision()), to_string(input_shape(layer)), why_not));
}

cuda_program cuda_program_builder::finish() {
  for (std::size_t i = 0; i < network().outputs.size(); ++i) {
    const std::size_t given = network().outputs[i];
    const value_form& wanted = target_.outputs.at(i);
    const cuda_value* found = find_form(given, wanted);
    if (found != nullptr && program_.buffers[found->buffer].place == buffer_place::scratch) {
      program_.buffers[found->buffer].place = buffer_place::output;
      program_.buffers[found->buffer].tensor = i;
      continue;
    }
    const tensor_type type{network().shape_of(given), wanted.element};
    const cuda_value result{program_.add_buffer(buffer_place::output, type.bytes(), i), wanted};
    add_conversion(value(given), result, type.shape, network().layers.back());
    finish_parts(program_, program_.steps.size());
  }
  program_.place_buffers();
  return std::move(program_);
}

device_form network_form(const arguments& values, const std::string& backend) {
  if (backend != "cuda") return {};
  return {.channels_last = true, .element = element_of(precision_of(values))};
}

std::unique_ptr<device_stage> make_network_cuda(device& d, const stage_config& config) {
  const network_definition network = network_of(config);
  const weight_table weights(network, network_weights(network, config));
  const precision p = precision_of(config.arguments);
  const auto library =
      open_cuda_libraries(d, tune_of(config.arguments), fmt::format("stage '{}'", config.name));
  cuda_program program =
      lower_network_for_cuda(network, weights,
                             {.library = *library,
                              .precision = p,
                              .stage = config.name,
                              .inputs = forms_of(config.inputs, config.input_layouts),
                              .outputs = forms_of(config.outputs, config.output_layouts)});
  memory constants;
  if (program.weights_bytes > 0) {
    constants = d.allocate(program.weights_bytes);
    const memory staging = d.allocate_pinned(program.weights_bytes);
    program.write_constants(staging.at(0));
    const auto s = d.make_stream("weights", priority::normal);
    s->copy(constants.data(), staging.data(), program.weights_bytes);
    d.synchronize(wait_mode::block);
  }
  return std::make_unique<program_stage<cuda_program>>(std::move(program), std::move(constants), p);
}

std::vector<tail_link> tail_of(const network_definition& network, const fused_layers& group,
                               bool bias) {
  std::vector<tail_link> links;
  if (bias) links.push_back({tail_link::kind::bias, group.head});
  for (const std::size_t layer : group.epilogue) {
    const layer_operation& operation = network.layers[layer].operation;
    if (const auto* activated = std::get_if<activation_layer>(&operation)) {
      links.push_back({tail_link::kind::activate, layer, activated->function});
    } else {
      links.push_back({tail_link::kind::add, layer});
    }
  }
  return links;
}

void lower_tail(cuda_program_builder& b, std::span<const tail_link> links, tail_input input,
                std::size_t last) {
  const std::int64_t count = b.output_shape(b.layer(last)).elements();
  cuda_value x = input.value;
  while (!links.empty()) {
    pointwise_form form{.from = x.form.element, .count = count};
    const std::size_t taken = take_links(form, links);
    const std::span<const tail_link> now = links.first(taken);
    links = links.subspan(taken);
    form.to = links.empty() ? b.result_element(last, x.form.layout) : b.element();

    const network_layer& owner = b.layer(now.front().layer);
    std::vector<cuda_operand> operands{x.buffer};
    if (form.shift) {
      form.channels = static_cast<std::int64_t>(input.bias.size());
      form.inner = input.inner;
      form.scale = !input.scale.empty();
      if (form.scale) operands.push_back(b.constant(input.scale, dtype::float32));
      operands.push_back(b.constant(input.bias, dtype::float32));
    }
    for (const tail_link& link : now) {
      if (link.what != tail_link::kind::add) continue;
      const network_layer& sum = b.layer(link.layer);
      operands.push_back(b.in_form(sum.inputs[1], x.form, sum).buffer);
    }
    const bool in_place = input.may_overwrite && form.to == form.from;
    cuda_value y{x.buffer, {x.form.layout, form.to}};
    if (!in_place) y = b.make_value(count, y.form);
    operands.push_back(y.buffer);
    b.add_kernel(std::move(form), std::move(operands), owner);
    x = y;
    input.may_overwrite = true;
  }
  b.set_output(last, x);
}

void note_tail(cuda_program_builder& b, std::span<const tail_link> links,
               const std::string& why_not) {
  std::string text = describe(b.network(), links) + " by a kernel of its own";
  if (!why_not.empty()) text += fmt::format(" ({})", why_not);
  b.note(text);
}

}  // namespace graphline
