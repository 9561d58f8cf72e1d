#include <fmt/format.h>

#include "stages/nn/cuda/lowering/lowering.hpp"
#include "stages/nn/fusion/fusion.hpp"

namespace graphline::nn {

namespace {

/// Returns the numbers of input channels to try, best first. Tensor cores use multiples of 16
/// bytes, and zero padding costs nothing if the image is converted anyway.
std::vector<std::int64_t> channels_to_try(const cuda_lowering& b, std::size_t input,
                                          const conv2d_layer& conv) {
  const std::int64_t channels = b.network().shape_of(input)[1];
  if (b.precision() == precision::float32) return {channels};  // no tensor cores
  const auto unit = static_cast<std::int64_t>(16 / element_bytes(b.precision()));
  const std::int64_t padded = (channels + unit - 1) / unit * unit;
  const bool converted = !b.lies_in_form(input, {tensor_layout::channels_last, b.element()});
  if (!converted || conv.groups != 1 || padded == channels) return {channels};
  return {padded, channels};
}

struct wanted_convolution {
  conv2d_layer conv;
  shape in;
  std::vector<epilogue_step> epilogue;
};

convolution_form form_of(const cuda_lowering& b, const wanted_convolution& wanted, const shape& out,
                         bool bias, std::size_t steps, std::int64_t channels) {
  convolution_form form{.batch = wanted.in[0],
                        .in_channels = channels,
                        .in = {wanted.in[2], wanted.in[3]},
                        .out = {out[2], out[3]},
                        .conv = wanted.conv,
                        .precision = b.precision(),
                        .layout = b.image_layout()};
  form.conv.bias = bias;
  for (const epilogue_step& step : std::span(wanted.epilogue).first(steps)) {
    if (step.function) {
      (form.add ? form.after : form.before).push_back(*step.function);
    } else {
      form.add = true;
    }
  }
  return form;
}

/// Reorders [out, in, height, width] to [out, height, width, channels]; adds channels of zeros.
std::vector<float> with_channels_last(const std::vector<float>& weight, const conv2d_layer& conv,
                                      std::int64_t in, std::int64_t channels) {
  const std::int64_t pixels = conv.kernel[0] * conv.kernel[1];
  std::vector<float> result(static_cast<std::size_t>(conv.out_channels * pixels * channels), 0.0F);
  for (std::int64_t out = 0; out < conv.out_channels; ++out) {
    for (std::int64_t c = 0; c < in; ++c) {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        result[static_cast<std::size_t>((out * pixels + pixel) * channels + c)] =
            weight[static_cast<std::size_t>((out * in + c) * pixels + pixel)];
      }
    }
  }
  return result;
}

/// A planned convolution and the number of channels that it reads.
struct planned_convolution : fused_operation {
  std::int64_t channels = 0;
};

planned_convolution plan(const cuda_lowering& b, const network_layer& head,
                         const wanted_convolution& wanted, const followed_product& product,
                         const std::vector<std::int64_t>& choices) {
  const shape& out = b.output_shape(head);
  std::vector<std::int64_t> channels_at(wanted.epilogue.size() + 2);  // by fused operations
  const auto prefers_tensor_cores = [&](bool with_bias, std::size_t steps) {
    return b.library().prefers_tensor_cores(
        form_of(b, wanted, out, with_bias, steps, choices.front()));
  };
  const auto plan_one = [&](bool with_bias, std::size_t steps, std::string& why_not) {
    std::unique_ptr<library_operation> operation;
    for (const std::int64_t channels : choices) {
      std::string reason;
      operation = b.library().plan(form_of(b, wanted, out, with_bias, steps, channels), reason);
      channels_at[steps + (with_bias ? 1 : 0)] = channels;
      if (operation != nullptr) break;
      if (why_not.empty()) why_not = reason;
    }
    return operation;
  };
  fused_operation planned =
      plan_fused(b, {product, wanted.epilogue, out.elements(), prefers_tensor_cores}, plan_one);
  const std::int64_t channels = channels_at[planned.steps + (planned.bias ? 1 : 0)];
  return {std::move(planned), channels};
}

}  // namespace

void lower(cuda_lowering& b, const layer_group& group, const conv2d_layer& conv) {
  const network_layer& head = b.layer(group.head);
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  const std::size_t read = head.inputs[0];
  const followed_product product = followed_product_of(b.network(), b.weights(), group, 1);
  const conv_weights& values = product.weights;
  value_form form{b.image_layout(), b.element()};
  const value_form result_form = form;
  wanted_convolution wanted{conv, in, epilogue_of(product.layers, out)};
  if (wanted.conv.padding_after == conv.padding) wanted.conv.padding_after.reset();
  planned_convolution planned = plan(b, head, wanted, product, channels_to_try(b, read, conv));
  std::optional<cuda_value> input;
  if (planned.operation == nullptr && wanted.conv.padding_after) {
    // The library refuses asymmetric padding, so a kernel pads.
    const extent_pair after = *wanted.conv.padding_after;
    const pad_layer pad{0, {0, 0, conv.padding[0], conv.padding[1]}, {0, 0, after[0], after[1]}};
    input = padded(b, head, b.in_form(read, form, head), in, pad);
    wanted.in = {in[0], in[1], in[2] + conv.padding[0] + after[0],
                 in[3] + conv.padding[1] + after[1]};
    wanted.conv.padding = {0, 0};
    wanted.conv.padding_after.reset();
    planned = plan(b, head, wanted, product, {in[1]});
  }
  if (planned.operation == nullptr) b.refuse(head, planned.why_not);
  if (planned.channels != in[1]) form.padded_channels = planned.channels;
  if (!input) input = b.in_form(read, form, head);

  std::vector<float> weight = form.layout == tensor_layout::row_major
                                  ? values.weight
                                  : with_channels_last(values.weight, conv, in[1] / conv.groups,
                                                       planned.channels / conv.groups);
  std::vector<cuda_operand> operands{input->buffer, b.constant(std::move(weight), b.element())};
  if (planned.bias) operands.emplace_back(b.constant(values.bias, b.element()));
  for (const epilogue_step& step : std::span(wanted.epilogue).first(planned.steps)) {
    if (!step.function) operands.emplace_back(b.in_form(step.added, result_form, head).buffer);
  }
  const cuda_value y = b.make_value(out.elements(), result_form);
  operands.emplace_back(y.buffer);
  b.add_calls(std::move(planned.operation), {std::move(operands)}, head);
  lower_rest(b, group, y, product, planned);
}

}  // namespace graphline::nn
