#include <algorithm>
#include <cmath>
#include <numeric>

#include "stages/network/cuda/lowering.hpp"

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
  if (operation == nullptr) b.refuse(head, first_reason);

  const value_form wanted{tensor_layout::row_major, b.element()};
  std::vector<cuda_operand> operands{b.in_form(head.inputs[0], wanted, head).buffer,
                                     b.constant({weight.begin(), weight.end()}, b.element())};
  const bool fused_bias = linear.bias && left > 0;
  if (fused_bias) operands.push_back(b.constant({bias.begin(), bias.end()}, b.element()));
  const cuda_value y = b.make_value(head.output.elements(), wanted);
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

namespace {

/// Where the operands of one call begin, in elements: among queries, keys and values, among the
/// scores, and in the result.
struct call_offsets {
  std::int64_t packed = 0;
  std::int64_t scores = 0;
  std::int64_t result = 0;
};

/// How far it is from one member of a batch to the next.
using batch_strides = call_offsets;

/// Attention as strided batches of products: heads of one image lie evenly apart, and so does one
/// head of all images, but not all heads of all images. The fewer calls are taken.
struct attention_batches {
  attention_batches(const shape& output, std::int64_t heads)
      : tokens(output[1]), dim(output[2]), depth(dim / heads) {
    const std::int64_t images = output[0];
    const batch_strides per_head{depth, tokens * tokens, depth};
    const batch_strides per_image{tokens * 3 * dim, heads * tokens * tokens, tokens * dim};
    const bool by_image = images <= heads;
    batch = by_image ? heads : images;
    strides = by_image ? per_head : per_image;
    const batch_strides step = by_image ? per_image : per_head;
    for (std::int64_t i = 0; i < std::min(images, heads); ++i) {
      calls.push_back({i * step.packed, i * step.scores, i * step.result});
    }
  }

  /// What divides the address of every operand of every call, if buffers begin at 16 bytes.
  std::size_t alignment(std::size_t element) const {
    std::size_t divides = 16;
    // The other calls begin at multiples of where the second does.
    const call_offsets next = calls.size() > 1 ? calls[1] : call_offsets{};
    for (const std::int64_t offset : {dim, next.packed, next.scores, next.result}) {
      divides = std::gcd(divides, static_cast<std::size_t>(offset) * element);
    }
    return divides;
  }

  std::int64_t tokens;
  std::int64_t dim;
  std::int64_t depth;
  std::int64_t batch = 1;
  batch_strides strides;
  std::vector<call_offsets> calls;
};

/// Queries by keys, transposed, over the root of a head's depth.
product_form scores_form(const attention_batches& all) {
  return {.m = all.tokens,
          .n = all.tokens,
          .k = all.depth,
          .transpose_b = true,
          .a_leading = 3 * all.dim,
          .b_leading = 3 * all.dim,
          .d_leading = all.tokens,
          .batch = all.batch,
          .a_stride = all.strides.packed,
          .b_stride = all.strides.packed,
          .d_stride = all.strides.scores,
          .scale = 1.0F / std::sqrt(static_cast<float>(all.depth))};
}

/// The softmax of scores by values.
product_form result_form(const attention_batches& all) {
  return {.m = all.tokens,
          .n = all.depth,
          .k = all.tokens,
          .a_leading = all.tokens,
          .b_leading = 3 * all.dim,
          .d_leading = all.dim,
          .batch = all.batch,
          .a_stride = all.strides.scores,
          .b_stride = all.strides.packed,
          .d_stride = all.strides.result};
}

std::unique_ptr<library_operation> plan(const cuda_program_builder& b, const network_layer& head,
                                        const attention_batches& all, product_form form) {
  form.precision = b.precision();
  form.alignment = all.alignment(element_bytes(b.precision()));
  std::string why_not;
  auto operation = b.library().plan(form, why_not);
  if (operation == nullptr) b.refuse(head, why_not);
  return operation;
}

}  // namespace

/// The heads are read where they lie among the queries, keys and values, and written where they lie
/// in the result.
void lower(cuda_program_builder& b, const fused_layers& group, const attention_layer& attention) {
  const network_layer& head = b.layer(group.head);
  const attention_batches all(head.output, attention.heads);
  const value_form form{tensor_layout::row_major, b.element()};
  const std::size_t packed = b.in_form(head.inputs[0], form, head).buffer;
  const std::int64_t rows = head.output[0] * attention.heads * all.tokens;
  const cuda_value scores = b.make_value(rows * all.tokens, form);
  const cuda_value result = b.make_value(head.output.elements(), form);

  const auto at = [&](std::size_t buffer, std::int64_t element) {
    return cuda_operand(buffer, static_cast<std::size_t>(element) * size_of(b.element()));
  };
  std::vector<std::vector<cuda_operand>> first;
  std::vector<std::vector<cuda_operand>> second;
  for (const call_offsets& call : all.calls) {
    first.push_back({at(packed, call.packed), at(packed, call.packed + all.dim),
                     at(scores.buffer, call.scores)});
    second.push_back({at(scores.buffer, call.scores), at(packed, call.packed + 2 * all.dim),
                      at(result.buffer, call.result)});
  }
  b.add_calls(plan(b, head, all, scores_form(all)), std::move(first), head);
  b.add_kernel(
      softmax_form{.from = b.element(), .to = b.element(), .outer = rows, .extent = all.tokens},
      {scores.buffer, scores.buffer}, head);
  b.note("softmax by a kernel of its own");
  b.add_calls(plan(b, head, all, result_form(all)), std::move(second), head);
  b.set_output(group.head, result);
}

}  // namespace graphline
