#include "stages/network/cuda/lowering.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace graphline {
namespace {

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

}  // namespace

cuda_program lower_network_for_cuda(const network_definition& network, const weight_table& weights,
                                    const cuda_target& target) {
  cuda_program_builder builder(network, weights, target);
  for (const fused_layers& group : fuse_layers(network, fused_heads::element_wise_too)) {
    std::visit([&](const auto& operation) { lower(builder, group, operation); },
               network.layers[group.head].operation);
    builder.end_part(group);
  }
  return builder.finish();
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

std::string describe(const network_definition& network, std::span<const tail_link> links) {
  std::string text;
  for (const tail_link& link : links) {
    if (!text.empty()) text += ", ";
    text += link.what == tail_link::kind::bias ? "bias" : network.layers[link.layer].kind;
  }
  return text;
}

void lower_tail(cuda_program_builder& b, std::span<const tail_link> links, tail_input input,
                std::size_t last) {
  const std::int64_t count = b.layer(last).output.elements();
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

std::optional<nanoseconds> time_of_tail(const cuda_program_builder& b,
                                        std::span<const tail_link> links, std::size_t last) {
  const shape& output = b.layer(last).output;
  const dtype result = b.result_element(last, tensor_layout::channels_last);
  nanoseconds total = 0;
  dtype reached = b.element();
  while (!links.empty() || reached != result) {
    pointwise_form form{.from = reached, .to = reached, .count = output.elements()};
    links = links.subspan(take_links(form, links));
    if (links.empty()) reached = form.to = result;
    if (form.shift) form.channels = output[1];
    const std::optional<nanoseconds> time = b.library().time_of(form);
    if (!time) return std::nullopt;
    total += *time;
  }
  return total;
}

void note_tail(cuda_program_builder& b, std::span<const tail_link> links,
               const std::string& why_not) {
  std::string text = describe(b.network(), links) + " by a kernel of its own";
  if (!why_not.empty()) text += fmt::format(" ({})", why_not);
  b.note(text);
}

}  // namespace graphline
