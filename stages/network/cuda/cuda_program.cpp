#include "stages/network/cuda/cuda_program.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "framework/base/error.hpp"
#include "stages/weights/float_conversion.hpp"

namespace graphline {
namespace {

template <std::uint16_t (*convert)(float) noexcept>
void write_rounded(const std::vector<float>& values, std::byte* to) {
  for (const float value : values) {
    const std::uint16_t bits = convert(value);
    std::memcpy(to, &bits, sizeof bits);
    to += sizeof bits;
  }
}

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

}  // namespace

void cuda_program::place_buffers() {
  buffer_uses uses;
  for (const cuda_step& step : steps) {
    std::vector<std::size_t>& used = uses.emplace_back();
    for (const cuda_operand& operand : step.operands) used.push_back(operand.buffer);
    if (step.workspace) used.push_back(*step.workspace);
  }
  const placed_bytes sums = graphline::place_buffers(buffers, uses);
  weights_bytes = sums.weights;
  scratch_bytes = sums.scratch;
}

void cuda_program::write_constants(std::byte* weights) {
  for (const cuda_constant& constant : constants) {
    std::byte* to = weights + buffers[constant.buffer].offset;
    if (constant.element == dtype::float16) {
      write_rounded<half_from_float>(constant.values, to);
    } else if (constant.element == dtype::bfloat16) {
      write_rounded<bfloat16_from_float>(constant.values, to);
    } else {
      std::memcpy(to, constant.values.data(), constant.values.size() * sizeof(float));
    }
  }
  constants.clear();
  constants.shrink_to_fit();
}

std::vector<bound_step> cuda_program::bind(const program_memory& memory) const {
  std::vector<bound_step> bound;
  bound.reserve(steps.size());
  for (const cuda_step& step : steps) {
    bound_step& ready = bound.emplace_back(bound_step{&step, {}, nullptr});
    for (const cuda_operand& operand : step.operands) {
      void* const begin = address_of(buffers[operand.buffer], memory);
      ready.operands.push_back(static_cast<std::byte*>(begin) + operand.offset);
    }
    if (step.workspace) ready.workspace = address_of(buffers[*step.workspace], memory);
  }
  return bound;
}

cuda_program_builder::cuda_program_builder(const network_definition& network,
                                           const weight_table& weights, cuda_target target)
    : network_(network),
      weights_(weights),
      target_(std::move(target)),
      values_(network.layers.size() + 1) {
  const auto elements = static_cast<std::size_t>(network.input.elements());
  const std::size_t bytes = elements * size_of(target_.input.element);
  values_[0].push_back({add_buffer(buffer_place::input, bytes), target_.input});
}

std::size_t cuda_program_builder::add_buffer(buffer_place place, std::size_t bytes) {
  program_.buffers.push_back({place, bytes, 0});
  return program_.buffers.size() - 1;
}

const cuda_value* cuda_program_builder::find_form(std::size_t index, const value_form& form) const {
  const bool any_layout = form.padded_channels == 0 && layouts_coincide(network_.shape_of(index));
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
  const shape& s = network_.shape_of(index);
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
  const bool last = layer + 1 == network_.layers.size();
  const bool in_place =
      layout == target_.output.layout || layouts_coincide(network_.layers[layer].output);
  return last && in_place ? target_.output.element : element();
}

void cuda_program_builder::set_output(std::size_t layer, cuda_value value) {
  values_[layer + 1] = {value};
}

cuda_value cuda_program_builder::make_value(std::int64_t elements, const value_form& form) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(form.element);
  return {add_buffer(buffer_place::scratch, bytes), form};
}

std::size_t cuda_program_builder::constant(std::vector<float> values, dtype element) {
  const std::size_t buffer = add_buffer(buffer_place::weights, values.size() * size_of(element));
  program_.constants.push_back({buffer, element, std::move(values)});
  return buffer;
}

void cuda_program_builder::add_kernel(kernel_form form, std::vector<cuda_operand> operands,
                                      const network_layer& layer) {
  program_.steps.push_back({std::move(form), std::move(operands), {}, owner(layer)});
}

void cuda_program_builder::add_library(std::unique_ptr<library_operation> operation,
                                       std::vector<cuda_operand> operands,
                                       const network_layer& layer) {
  add_calls(std::move(operation), {std::move(operands)}, layer);
}

void cuda_program_builder::add_calls(std::unique_ptr<library_operation> operation,
                                     std::vector<std::vector<cuda_operand>> calls,
                                     const network_layer& layer) {
  const std::string choice = operation->choice();
  note(calls.size() == 1 ? choice : fmt::format("{} calls of {}", calls.size(), choice));
  std::optional<std::size_t> workspace;
  if (operation->workspace_bytes() > 0) {
    workspace = add_buffer(buffer_place::scratch, operation->workspace_bytes());
  }
  const std::shared_ptr<library_operation> shared(std::move(operation));
  for (std::vector<cuda_operand>& operands : calls) {
    program_.steps.push_back({shared, std::move(operands), workspace, owner(layer)});
  }
}

void cuda_program_builder::note(const std::string& text) {
  if (!notes_.empty()) notes_ += "; ";
  notes_ += text;
}

void cuda_program_builder::end_part(const fused_layers& group) {
  const std::size_t begin = program_.parts.empty() ? 0 : program_.parts.back().end_steps;
  const std::size_t end = program_.steps.size();
  if (end > begin) {
    program_.parts.push_back({name_of(network_, group), notes_, part_cost(group), end});
  }
  notes_.clear();
}

cost cuda_program_builder::part_cost(const fused_layers& group) const {
  return cost_of(network_, group,
                 {.input = size_of(target_.input.element),
                  .output = size_of(target_.output.element),
                  .inside = element_bytes(target_.precision)});
}

std::string cuda_program_builder::owner(const network_layer& layer) const {
  return fmt::format("stage '{}', layer '{}'", target_.stage, layer.name);
}

void cuda_program_builder::refuse(const network_layer& layer, const std::string& why_not) const {
  throw run_error(fmt::format(
      "{}: no implementation in {} for {}: {}; another 'precision' may have one", owner(layer),
      to_word(precision()), to_string(network_.shape_of(layer.inputs[0])), why_not));
}

cuda_program cuda_program_builder::finish() {
  const std::size_t last = network_.layers.size();
  const cuda_value* found = find_form(last, output_form());
  if (found != nullptr && program_.buffers[found->buffer].place == buffer_place::scratch) {
    program_.buffers[found->buffer].place = buffer_place::output;
  } else {
    const shape& s = network_.shape_of(last);
    const std::size_t bytes =
        static_cast<std::size_t>(s.elements()) * size_of(target_.output.element);
    const cuda_value result{add_buffer(buffer_place::output, bytes), output_form()};
    add_conversion(value(last), result, s, network_.layers.back());
    // What brings the result to where it is wanted counts with the last layers.
    if (program_.parts.empty()) {
      const fused_layers whole{.head = network_.layers.size() - 1};
      program_.parts.push_back({name_of(network_, whole), "", part_cost(whole), 0});
    }
    cuda_part& part = program_.parts.back();
    part.choice += (part.choice.empty() ? "" : "; ") + notes_;
    part.end_steps = program_.steps.size();
  }
  program_.place_buffers();
  return std::move(program_);
}

}  // namespace graphline
