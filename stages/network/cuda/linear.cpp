#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "stages/network/cuda/lowering.hpp"
#include "stages/network/cuda/tail.hpp"

namespace graphline {

namespace {

product_form form_of(const cuda_program_builder& b, const network_layer& head,
                     std::span<const tail_link> fused) {
  const shape in = as_rows(b.network().shape_of(head.inputs[0]));
  const std::int64_t out_features = as_rows(head.output)[1];
  product_form form{.m = in[0],
                    .n = out_features,
                    .k = in[1],
                    .transpose_b = true,  // PyTorch stores [out_features, in_features]
                    .a_leading = in[1],
                    .b_leading = in[1],
                    .d_leading = out_features,
                    .precision = b.precision()};
  for (const tail_link& link : fused) {
    if (link.what == tail_link::kind::bias) {
      form.bias = true;
    } else {
      form.activations.push_back(link.function);
    }
  }
  return form;
}

/// The links that a product has a place for: all before an add.
std::size_t fusible(std::span<const tail_link> tail) {
  const auto add = std::find_if(tail.begin(), tail.end(), [](const tail_link& link) {
    return link.what == tail_link::kind::add;
  });
  return static_cast<std::size_t>(add - tail.begin());
}

}  // namespace

void lower(cuda_program_builder& b, const fused_layers& group, const linear_layer& linear) {
  const network_layer& head = b.layer(group.head);
  const auto weight = b.weights().of(head, "weight");
  const auto bias = b.weights().of(head, "bias");
  const std::vector<tail_link> tail = tail_of(b.network(), group, linear.bias);

  std::unique_ptr<library_operation> operation;
  std::size_t left = fusible(tail) + 1;
  std::string first_reason;
  while (operation == nullptr && left-- > 0) {
    std::string why_not;
    operation = b.library().plan(form_of(b, head, std::span(tail).first(left)), why_not);
    if (operation == nullptr && first_reason.empty()) first_reason = why_not;
  }
  if (operation == nullptr) {
    throw run_error(fmt::format(
        "{}: no implementation in {} for {}: {}; another 'precision' may have one", b.owner(head),
        to_word(b.precision()), to_string(b.network().shape_of(head.inputs[0])), first_reason));
  }

  const value_form wanted{tensor_layout::row_major, b.element()};
  std::vector<cuda_operand> operands{b.in_form(head.inputs[0], wanted, head).buffer,
                                     b.constant({weight.begin(), weight.end()}, b.element())};
  const bool fused_bias = linear.bias && left > 0;
  if (fused_bias) operands.push_back(b.constant({bias.begin(), bias.end()}, b.element()));
  const cuda_value y = b.make_value(head.output.elements(), wanted);
  operands.push_back(y.buffer);
  b.add_library(std::move(operation), std::move(operands), head);

  const auto rest = std::span(tail).subspan(left);
  if (rest.empty()) {
    b.set_output(group.last(), y);
    return;
  }
  note_tail(b, rest, first_reason);
  lower_tail(b, rest, {.value = y, .bias = {bias.begin(), bias.end()}, .may_overwrite = true},
             group.last());
}

}  // namespace graphline
