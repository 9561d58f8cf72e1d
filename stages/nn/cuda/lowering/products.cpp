#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/units.hpp"
#include "stages/nn/cuda/lowering/lowering.hpp"
#include "stages/nn/cuda/lowering/product_calls.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn {
namespace {

product_form form_of(const cuda_lowering& b, const network_layer& head, bool bias,
                     std::span<const epilogue_step> fused) {
  const shape in = as_rows(b.input_shape(head));
  const std::int64_t out_features = as_rows(b.output_shape(head))[1];
  product_form form{.m = in[0],
                    .n = out_features,
                    .k = in[1],
                    .transpose_b = true,  // the weight is [out_features, in_features]
                    .a_leading = in[1],
                    .b_leading = in[1],
                    .d_leading = out_features,
                    .bias = bias,
                    .precision = b.precision()};
  for (const epilogue_step& step : fused) {
    if (step.function) {
      form.activations.push_back(*step.function);
    } else {
      form.add = true;
    }
  }
  return form;
}

struct planned_product {
  product_calls calls;
  std::unique_ptr<library_operation> operation;
};

planned_product plan(const cuda_lowering& b, const network_layer& head,
                     const strided_product& product) {
  product_calls calls = collapse_product(product, b.precision());
  auto operation = b.plan(calls.form, head);
  return {std::move(calls), std::move(operation)};
}

/// Adds the calls of a product of two buffers to a third one.
void add_product(cuda_lowering& b, const network_layer& head, planned_product product,
                 std::size_t left, std::size_t right, std::size_t result) {
  b.add_calls(std::move(product.operation), operands_of(product.calls, left, right, result), head);
}

/// Attention as two products with a softmax between them.
struct attention_steps {
  planned_product scores;
  softmax_form softmax;
  planned_product sums;
};

attention_steps plan_steps(const cuda_lowering& b, const network_layer& head,
                           const attention_layer& attention) {
  const shape& output = b.output_shape(head);
  // So that the length of the scores' rows costs no alignment.
  const auto unit = static_cast<std::int64_t>(16 / element_bytes(b.precision()));
  const attention_products products = products_of(attention, output, unit);
  return {plan(b, head, products.scores),
          {.from = b.element(),
           .to = b.element(),
           .axis = {.outer = output[0] * attention.heads * output[1], .extent = output[1]},
           .pitch = products.scores.c.strides[2]},
          plan(b, head, products.sums)};
}

/// Returns the estimated time of tuned products and of the softmax, in nanoseconds.
double time_of(const cuda_lowering& b, const attention_steps& steps) {
  const auto of_calls = [](const planned_product& product) {
    return static_cast<double>(product.calls.calls.size()) *
           static_cast<double>(product.operation->speed().tuned.value());
  };
  const auto scores = static_cast<double>(steps.softmax.axis.outer * steps.softmax.pitch) *
                      static_cast<double>(element_bytes(b.precision()));
  return of_calls(steps.scores) + time_of_kernel(2 * scores, b.library()) + of_calls(steps.sums);
}

/// Plans attention as one operation of 16-bit elements; returns null, with the reason, if the
/// library has none.
std::unique_ptr<library_operation> plan_attention(const cuda_lowering& b,
                                                  const attention_layer& attention,
                                                  const shape& output, std::string& why_not) {
  if (element_bytes(b.precision()) != 2) {
    why_not = "fused attention takes float16 and bfloat16";
    return nullptr;
  }
  return b.library().plan(attention_form{.batch = output[0],
                                         .tokens = output[1],
                                         .heads = attention.heads,
                                         .depth = output[2] / attention.heads,
                                         .precision = b.precision()},
                          why_not);
}

}  // namespace

void lower(cuda_lowering& b, const layer_group& group, const linear_layer&) {
  const network_layer& head = b.layer(group.head);
  const shape& out = b.output_shape(head);
  const followed_product product =
      followed_product_of(b.network(), b.weights(), group, out.rank() - 1);
  // Libraries add a matrix to a product before the activation, not after it.
  std::vector<epilogue_step> fusible = epilogue_of(product.layers, out);
  const auto is_sum = [](const epilogue_step& step) { return !step.function; };
  if (const auto sum = std::ranges::find_if(fusible, is_sum); sum != fusible.begin()) {
    fusible.erase(sum, fusible.end());
  }

  fused_operation planned =
      plan_fused(b, {product, fusible, out.elements()},
                 [&](bool with_bias, std::size_t steps, std::string& why_not) {
                   return b.library().plan(
                       form_of(b, head, with_bias, std::span(fusible).first(steps)), why_not);
                 });
  if (planned.operation == nullptr) b.refuse(head, planned.why_not);

  const value_form wanted{tensor_layout::row_major, b.element()};
  std::vector<cuda_operand> operands{b.in_form(head.inputs[0], wanted, head).buffer,
                                     b.constant(product.weights.weight, b.element())};
  if (planned.bias) operands.emplace_back(b.constant(product.weights.bias, b.element()));
  for (const epilogue_step& step : std::span(fusible).first(planned.steps)) {
    if (!step.function) operands.emplace_back(b.in_form(step.added, wanted, head).buffer);
  }
  const cuda_value y = b.make_value(out.elements(), wanted);
  operands.emplace_back(y.buffer);
  b.add_calls(std::move(planned.operation), {std::move(operands)}, head);
  lower_rest(b, group, y, product, planned);
}

/// Lowers to a matrix product with all kernel elements, then sums the contributions to each output
/// element.
void lower(cuda_lowering& b, const layer_group& group, const conv_transpose2d_layer& conv) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  const std::int64_t taps = conv.kernel[0] * conv.kernel[1];
  const std::int64_t in_of_group = in[1] / conv.groups;
  const std::int64_t out_of_group = conv.out_channels / conv.groups;
  const std::int64_t columns = taps * out_of_group;
  const value_form form{tensor_layout::channels_last, b.element()};
  const cuda_value x = b.in_form(head.inputs[0], form, head);

  const cuda_value y = b.make_value(out.elements(), form);
  const followed_product product = followed_product_of(b.network(), b.weights(), group, 1);
  const std::vector<float>& given = product.weights.weight;
  // Reorder to [in_channels, taps, out_channels / groups].
  std::vector<float> weight(given.size());
  for (std::int64_t channel = 0; channel < conv.out_channels; ++channel) {
    const std::int64_t first = channel / out_of_group * in_of_group;
    for (std::int64_t i = 0; i < in_of_group; ++i) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t to = (first + i) * columns + tap * out_of_group + channel % out_of_group;
        weight[static_cast<std::size_t>(to)] =
            given[static_cast<std::size_t>((channel * in_of_group + i) * taps + tap)];
      }
    }
  }
  const std::int64_t pixels = in[0] * in[2] * in[3];
  planned_product planned =
      plan(b, head,
           {.a = {{conv.groups, pixels, in_of_group}, {in_of_group, in[1], 1}},
            .b = packed_matrices({conv.groups, in_of_group, columns}),
            .c = {{conv.groups, pixels, columns}, {columns, conv.groups * columns, 1}}});
  const cuda_value products = b.make_value(pixels * conv.groups * columns, form);
  add_product(b, head, std::move(planned), x.buffer, b.constant(std::move(weight), b.element()),
              products.buffer);
  b.add_kernel(transposed_sum_form{.from = b.element(),
                                   .to = b.element(),
                                   .batch = in[0],
                                   .in = {in[2], in[3]},
                                   .out = {out[2], out[3]},
                                   .conv = conv},
               {products.buffer, y.buffer}, head);
  b.note("sums by a kernel of its own");
  lower_rest(b, group, y, product);
}

void lower(cuda_lowering& b, const layer_group& group, const matmul_layer& matmul) {
  const network_layer& head = b.layer(group.head);
  const shape& out = b.output_shape(head);
  const value_form form{tensor_layout::row_major, b.element()};
  planned_product product = plan(b, head,
                                 matrices_of(matmul, b.network().shape_of(head.inputs[0]),
                                             b.network().shape_of(head.inputs[1]), out));
  const cuda_value result = b.make_value(out.elements(), form);
  add_product(b, head, std::move(product), b.in_form(head.inputs[0], form, head).buffer,
              b.in_form(head.inputs[1], form, head).buffer, result.buffer);
  b.set_output(group.head, result);
}

void lower(cuda_lowering& b, const layer_group& group, const attention_layer& attention) {
  const network_layer& head = b.layer(group.head);
  const shape& output = b.output_shape(head);
  const value_form form{tensor_layout::row_major, b.element()};
  const std::size_t packed = b.in_form(head.inputs[0], form, head).buffer;
  const cuda_value result = b.make_value(output.elements(), form);
  b.set_output(group.head, result);

  std::string why_not;
  std::unique_ptr<library_operation> fused = plan_attention(b, attention, output, why_not);
  std::optional<attention_steps> steps;
  if (fused == nullptr || fused->speed().tuned) steps = plan_steps(b, head, attention);
  if (fused != nullptr && steps) {
    const auto together = static_cast<double>(*fused->speed().tuned);
    const double apart = time_of(b, *steps);
    if (apart < together) {
      why_not = fmt::format("faster than fused: {} instead of {}", format_duration(apart),
                            format_duration(together));
      fused.reset();
    }
  }
  if (fused != nullptr) {
    const std::size_t dim = static_cast<std::size_t>(output[2]) * element_bytes(b.precision());
    b.add_calls(std::move(fused), {{packed, {packed, dim}, {packed, 2 * dim}, result.buffer}},
                head);
    return;
  }
  const cuda_value scores = b.make_value(steps->softmax.axis.outer * steps->softmax.pitch, form);
  add_product(b, head, std::move(steps->scores), packed, packed, scores.buffer);
  b.add_kernel(steps->softmax, {scores.buffer, scores.buffer}, head);
  b.note(fmt::format("softmax by a kernel of its own ({})", why_not));
  add_product(b, head, std::move(steps->sums), scores.buffer, packed, result.buffer);
}

}  // namespace graphline::nn
