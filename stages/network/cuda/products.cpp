#include <algorithm>
#include <cmath>

#include "stages/matmul_cuda.hpp"
#include "stages/network/cuda/lowering.hpp"

namespace graphline {
namespace {

product_form form_of(const cuda_program_builder& b, const network_layer& head,
                     std::span<const tail_link> fused) {
  const shape in = as_rows(b.input_shape(head));
  const std::int64_t out_features = as_rows(b.output_shape(head))[1];
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

struct planned_product {
  product_calls calls;
  std::unique_ptr<library_operation> operation;
};

/// The product of one head of one image, repeated along `axes`; its b begins `in_b` elements in.
planned_product plan(const cuda_program_builder& b, const network_layer& head, product_form form,
                     std::vector<batch_axis> axes, std::int64_t in_b) {
  form.precision = b.precision();
  product_calls calls = batched_calls(form, std::move(axes), {.b = in_b});
  std::string why_not;
  auto operation = b.library().plan(calls.form, why_not);
  if (operation == nullptr) b.refuse(head, why_not);
  return {std::move(calls), std::move(operation)};
}

}  // namespace

void lower(cuda_program_builder& b, const fused_layers& group, const linear_layer& linear) {
  const network_layer& head = b.layer(group.head);
  const auto weight = b.weights().of(head, 1);
  const auto bias = b.weights().of(head, 2);
  const std::vector<tail_link> tail = tail_of(b.network(), group, linear.bias);

  std::unique_ptr<library_operation> operation;
  std::size_t left = fusible(tail) + 1;
  std::string first_reason;
  while (operation == nullptr && left-- > 0) {
    std::string why_not;
    operation = b.library().plan(form_of(b, head, std::span(tail).first(left)), why_not);
    if (operation == nullptr && first_reason.empty()) first_reason = why_not;
  }
  if (operation == nullptr) b.refuse(head, first_reason);

  const value_form wanted{tensor_layout::row_major, b.element()};
  std::vector<cuda_operand> operands{b.in_form(head.inputs[0], wanted, head).buffer,
                                     b.constant({weight.begin(), weight.end()}, b.element())};
  const bool fused_bias = linear.bias && left > 0;
  if (fused_bias) operands.push_back(b.constant({bias.begin(), bias.end()}, b.element()));
  const cuda_value y = b.make_value(b.output_shape(head).elements(), wanted);
  operands.push_back(y.buffer);
  b.add_calls(std::move(operation), {std::move(operands)}, head);

  const auto rest = std::span(tail).subspan(left);
  if (rest.empty()) {
    b.set_output(group.last(), y);
    return;
  }
  note_tail(b, rest, first_reason);
  lower_tail(b, rest, {.value = y, .bias = {bias.begin(), bias.end()}, .may_overwrite = true},
             group.last());
}

/// The heads are read where they lie among the queries, keys and values, and written where they lie
/// in the result.
void lower(cuda_program_builder& b, const fused_layers& group, const attention_layer& attention) {
  const network_layer& head = b.layer(group.head);
  const shape& output = b.output_shape(head);
  const std::int64_t images = output[0];
  const std::int64_t tokens = output[1];
  const std::int64_t dim = output[2];
  const std::int64_t depth = dim / attention.heads;
  const value_form form{tensor_layout::row_major, b.element()};
  const std::size_t packed = b.in_form(head.inputs[0], form, head).buffer;
  const std::int64_t rows = images * attention.heads * tokens;
  const cuda_value scores = b.make_value(rows * tokens, form);
  const cuda_value result = b.make_value(output.elements(), form);

  // From one image and one head to the next: in the packed tokens, the scores and the result.
  const std::int64_t packed_image = tokens * 3 * dim;
  const std::int64_t scores_head = tokens * tokens;
  const std::int64_t scores_image = attention.heads * scores_head;
  // Queries by keys, transposed, over the root of a head's depth.
  planned_product first = plan(b, head,
                               {.m = tokens,
                                .n = tokens,
                                .k = depth,
                                .transpose_b = true,
                                .a_leading = 3 * dim,
                                .b_leading = 3 * dim,
                                .d_leading = tokens,
                                .scale = 1.0F / std::sqrt(static_cast<float>(depth))},
                               {{attention.heads, depth, depth, scores_head},
                                {images, packed_image, packed_image, scores_image}},
                               dim);
  // The softmax of scores by values.
  planned_product second = plan(b, head,
                                {.m = tokens,
                                 .n = depth,
                                 .k = tokens,
                                 .a_leading = tokens,
                                 .b_leading = 3 * dim,
                                 .d_leading = dim},
                                {{attention.heads, scores_head, depth, depth},
                                 {images, scores_image, packed_image, tokens * dim}},
                                2 * dim);
  b.add_calls(std::move(first.operation), operands_of(first.calls, packed, packed, scores.buffer),
              head);
  b.add_kernel(
      softmax_form{.from = b.element(), .to = b.element(), .outer = rows, .extent = tokens},
      {scores.buffer, scores.buffer}, head);
  b.note("softmax by a kernel of its own");
  b.add_calls(std::move(second.operation),
              operands_of(second.calls, scores.buffer, packed, result.buffer), head);
  b.set_output(group.head, result);
}

}  // namespace graphline
