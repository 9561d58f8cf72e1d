#include "stages/nn/cuda/lowering/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/units.hpp"

namespace graphline::nn {
namespace {

std::int64_t pixels_of(const shape& s) {
  return s[2] * s[3];
}

/// Returns true if both layouts order the elements in the same way.
bool layouts_coincide(const shape& s) {
  return s.rank() != 4 || s[1] == 1 || pixels_of(s) == 1;
}

std::string describe(const value_form& form) {
  std::string text(to_string(form.element));
  if (form.layout == tensor_layout::channels_last) text += " with channels last";
  if (form.padded_channels > 0) text += fmt::format(", {} of them", form.padded_channels);
  return text;
}

/// Returns the estimated time of the kernel for what a fusion leaves: it reads and writes the
/// result, and reads the values that sums add.
double time_of_rest(const cuda_lowering& b, const fusible_product& wanted, bool bias,
                    std::size_t steps) {
  const followed_product& product = wanted.product;
  if (steps == product.layers.steps.size() && (bias || product.weights.bias.empty())) return 0;
  const auto is_sum = [](const epilogue_step& step) { return !step.function; };
  const auto sums = std::ranges::count_if(wanted.epilogue.subspan(steps), is_sum);
  const auto moved = static_cast<double>(wanted.output_elements * (2 + sums)) *
                     static_cast<double>(element_bytes(b.precision()));
  return time_of_kernel(moved, b.library());
}

/// Returns the bytes per element; all tensors have the type of the first.
std::size_t bytes_of_first(const std::vector<value_form>& tensors) {
  return tensors.empty() ? sizeof(float) : size_of(tensors.front().element);
}

cuda_program lower_in(tensor_layout image_layout, const network_definition& network,
                      const weight_table& weights, const cuda_target& target) {
  cuda_lowering lowering(network, weights, target, image_layout);
  for (const layer_group& group : group_layers(network)) {
    std::visit(
        [&](const auto& operation) {
          if constexpr (requires { lower(lowering, group, operation); }) {
            lower(lowering, group, operation);
          } else {
            lower_element_wise(lowering, group);
          }
        },
        network.layers[group.head].operation);
    lowering.end_part(group);
  }
  return lowering.finish();
}

/// Returns a step's library operation; null if the step is a kernel.
const library_operation* call_of(const cuda_step& step) {
  const auto* call = std::get_if<std::shared_ptr<library_operation>>(&step.work);
  return call == nullptr ? nullptr : call->get();
}

bool is_tuned(const cuda_program& program) {
  return std::ranges::all_of(program.steps, [](const cuda_step& step) {
    const library_operation* call = call_of(step);
    return call == nullptr || call->speed().tuned;
  });
}

/// Returns the estimated time of a program, in nanoseconds. If `tuned` is false, a library call
/// counts as the traffic of its workspace: cuDNN's float32 engines ask for up to 1.25 GB in NHWC
/// and for almost none in NCHW.
double time_of(const cuda_program& program, const cuda_library& library, bool tuned) {
  double time = 0;
  for (const cuda_step& step : program.steps) {
    if (const library_operation* call = call_of(step)) {
      time += tuned ? static_cast<double>(call->speed().tuned.value())
                    : 2 * static_cast<double>(call->workspace_bytes()) /
                          library.memory_bandwidth() * 1e9;
      continue;
    }
    double bytes = 0;
    for (const cuda_operand& operand : step.operands) {
      bytes += static_cast<double>(program.buffers[operand.buffer].bytes);
    }
    time += time_of_kernel(bytes, library);
  }
  return time;
}

/// Compares estimated times.
bool is_faster(const cuda_program& a, const cuda_program& b, const cuda_library& library) {
  const bool tuned = is_tuned(a) && is_tuned(b);
  return time_of(a, library, tuned) < time_of(b, library, tuned);
}

}  // namespace

double time_of_kernel(double bytes, const cuda_library& library) {
  constexpr double least = 2000;  // of a small kernel in a graph
  return least + bytes / library.memory_bandwidth() * 1e9;
}

cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target) {
  std::vector<tensor_layout> layouts{tensor_layout::channels_last};
  const bool convolves = std::ranges::any_of(network.layers, [](const network_layer& layer) {
    return std::holds_alternative<conv2d_layer>(layer.operation);
  });
  if (convolves && target.precision == precision::float32) {
    layouts.push_back(tensor_layout::row_major);
  }
  std::optional<cuda_program> best;
  std::exception_ptr refused;
  for (const tensor_layout layout : layouts) {
    try {
      cuda_program program = lower_in(layout, network, weights, target);
      if (!best || is_faster(program, *best, target.library)) best = std::move(program);
    } catch (const refused_layer&) {
      if (!refused) refused = std::current_exception();
    }
  }
  if (!best) std::rethrow_exception(refused);
  return *std::move(best);
}

fused_operation plan_fused(const cuda_lowering& b, const fusible_product& wanted,
                           const std::function<std::unique_ptr<library_operation>(
                               bool bias, std::size_t steps, std::string& why_not)>& plan) {
  const bool bias = !wanted.product.weights.bias.empty();
  fused_operation best;
  std::string refused;   // why the library fuses less
  double best_time = 0;  // of the tuned plan and the kernel for the rest
  for (std::size_t left = wanted.epilogue.size() + (bias ? 2 : 1); left-- > 0;) {
    const bool with_bias = bias && left > 0;
    const std::size_t steps = left - (with_bias ? 1 : 0);
    const double rest = time_of_rest(b, wanted, with_bias, steps);
    if (best.operation != nullptr) {
      // With less fusion the rest only grows. Without tuning, only tensor cores are a reason for
      // it.
      const plan_speed known = best.operation->speed();
      const bool cannot_win =
          known.tuned ? rest >= best_time
                      : known.tensor_cores || !wanted.prefers_tensor_cores(with_bias, steps);
      if (cannot_win) continue;
    }
    std::string why_not;
    auto operation = plan(with_bias, steps, why_not);
    if (operation == nullptr) {
      if (refused.empty()) refused = why_not;
      continue;
    }
    const plan_speed speed = operation->speed();
    const double time = rest + static_cast<double>(speed.tuned.value_or(0));
    if (best.operation != nullptr) {
      if (speed.tuned ? time >= best_time : !speed.tensor_cores) continue;
      why_not = speed.tuned ? fmt::format("faster than fused: {} instead of {}",
                                          format_duration(time), format_duration(best_time))
                            : "fused, it would not run on tensor cores";
    } else {
      why_not = refused;
    }
    best = {std::move(operation), with_bias, steps, std::move(why_not)};
    best_time = time;
  }
  if (best.operation == nullptr) best.why_not = refused;
  return best;
}

cuda_lowering::cuda_lowering(const network_definition& network, const weight_table& weights,
                             const cuda_target& target, tensor_layout image_layout)
    : network_lowering(network, weights, target.owner, "; ",
                       {.input = bytes_of_first(target.inputs),
                        .output = bytes_of_first(target.outputs),
                        .inside = element_bytes(target.precision)}),
      target_(target),
      image_layout_(image_layout),
      values_(network.values.size()) {
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const value_form& form = target_.inputs.at(i);
    const tensor_type given{network.shape_of(network.inputs[i]), form.element};
    values_[network.inputs[i]] = {
        {program_.add_buffer(buffer_place::input, given.bytes(), i), form}};
  }
}

const cuda_value* cuda_lowering::find_form(std::size_t index, const value_form& form) const {
  const bool any_layout = form.padded_channels == 0 && layouts_coincide(network().shape_of(index));
  for (const cuda_value& value : values_[index]) {
    const bool alike = any_layout
                           ? value.form.element == form.element && value.form.padded_channels == 0
                           : value.form == form;
    if (alike) return &value;
  }
  return nullptr;
}

cuda_value cuda_lowering::value(std::size_t index) {
  std::vector<cuda_value>& forms = values_[index];
  if (forms.empty()) {
    const auto data = weights().of(index);
    forms.push_back(
        {constant({data.begin(), data.end()}, element()), {tensor_layout::row_major, element()}});
  }
  return forms.front();
}

cuda_value cuda_lowering::in_form(std::size_t index, const value_form& form,
                                  const network_layer& reader) {
  const cuda_value given = value(index);
  if (const cuda_value* found = find_form(index, form)) return {found->buffer, form};
  const shape& s = network().shape_of(index);
  std::int64_t elements = s.elements();
  if (form.padded_channels > 0) elements = elements / s[1] * form.padded_channels;
  const cuda_value made = make_value(elements, form);
  add_conversion(given, made, s, reader);
  values_[index].push_back(made);
  return made;
}

void cuda_lowering::add_conversion(const cuda_value& from, const cuda_value& to, const shape& s,
                                   const network_layer& reader) {
  if (to.form.padded_channels > 0) {
    const bool last = from.form.layout == tensor_layout::channels_last;
    add_kernel(convert_form{.from = from.form.element,
                            .to = to.form.element,
                            .batch = last ? s[0] * pixels_of(s) : s[0],
                            .rows = s[1],
                            .columns = last ? 1 : pixels_of(s),
                            .padded_rows = to.form.padded_channels},
               {from.buffer, to.buffer}, reader);
  } else {
    add_copy(*this, reader, s, from, {0, strides_of(s, from.form.layout)}, to,
             {0, strides_of(s, to.form.layout)});
  }
  note(fmt::format("conversion to {}", describe(to.form)));
}

dtype cuda_lowering::result_element(std::size_t layer, tensor_layout layout,
                                    std::optional<dtype> otherwise) const {
  const std::size_t given = network().layers[layer].outputs.front();
  if (!otherwise) otherwise = network().values[given].whole ? dtype::float32 : element();
  const auto found = std::ranges::find(network().outputs, given);
  if (found == network().outputs.end()) return *otherwise;
  const value_form& wanted =
      target_.outputs.at(static_cast<std::size_t>(found - network().outputs.begin()));
  const bool in_place = layout == wanted.layout || layouts_coincide(network().shape_of(given));
  return in_place ? wanted.element : *otherwise;
}

cuda_value cuda_lowering::make_value(std::int64_t elements, const value_form& form) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(form.element);
  return {program_.add_buffer(buffer_place::scratch, bytes), form};
}

std::size_t cuda_lowering::constant(std::vector<float> values, dtype element) {
  // Layers may share weights.
  const auto equal = std::ranges::find_if(program_.constants, [&](const cuda_constant& other) {
    return other.element == element && have_equal_bytes(std::as_bytes(std::span(other.values)),
                                                        std::as_bytes(std::span(values)));
  });
  if (equal != program_.constants.end()) return equal->buffer;
  const std::size_t buffer =
      program_.add_buffer(buffer_place::weights, values.size() * size_of(element));
  program_.constants.push_back({buffer, element, std::move(values)});
  return buffer;
}

void cuda_lowering::add_calls(std::shared_ptr<library_operation> operation,
                              std::vector<std::vector<cuda_operand>> calls,
                              const network_layer& layer) {
  note((calls.size() == 1 ? "" : fmt::format("{} calls of ", calls.size())) + operation->choice());
  program_.add_calls(std::move(operation), std::move(calls), owner(layer));
}

void cuda_lowering::refuse(const network_layer& layer, const std::string& why_not) const {
  throw refused_layer(
      fmt::format("{}: no implementation in {} for {}: {}; another 'precision' may have one",
                  owner(layer), to_word(precision()), to_string(input_shape(layer)), why_not));
}

void cuda_lowering::end_part(const layer_group& group) {
  for (const std::size_t i : outputs_of(group)) {
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
    add_conversion(value(given), result, type.shape, layer(group.last()));
    if (found == nullptr) values_[given].push_back(result);
  }
  add_part(program_, group, program_.steps.size());
}

cuda_program cuda_lowering::finish() {
  program_.place_buffers();
  return std::move(program_);
}

}  // namespace graphline::nn
