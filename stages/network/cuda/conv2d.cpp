#include <fmt/format.h>

#include "stages/network/cuda/lowering.hpp"
#include "stages/network/fusion.hpp"

namespace graphline {

namespace {

/// How many channels to read, the better guess first: tensor cores want them in multiples of 16
/// bytes. Adding zeros costs nothing where the image is converted anyway.
std::vector<std::int64_t> channels_to_try(const cuda_program_builder& b, std::size_t input,
                                          const conv2d_layer& conv) {
  const std::int64_t channels = b.network().shape_of(input)[1];
  const auto unit = static_cast<std::int64_t>(16 / element_bytes(b.precision()));
  const std::int64_t padded = (channels + unit - 1) / unit * unit;
  const bool converted = !b.lies_in_form(input, {tensor_layout::channels_last, b.element()});
  if (!converted || conv.groups != 1 || padded == channels) return {channels};
  if (b.precision() == precision::float32) return {channels};  // which uses no tensor cores
  return {padded, channels};
}

convolution_form form_of(const cuda_program_builder& b, const network_layer& head,
                         const conv2d_layer& conv, std::span<const tail_link> fused,
                         std::int64_t channels) {
  const shape& in = b.input_shape(head);
  const shape& out = b.output_shape(head);
  convolution_form form{.batch = in[0],
                        .in_channels = channels,
                        .in = {in[2], in[3]},
                        .out = {out[2], out[3]},
                        .conv = conv,
                        .precision = b.precision()};
  form.conv.bias = false;
  for (const tail_link& link : fused) {
    if (link.what == tail_link::kind::bias) {
      form.conv.bias = true;
    } else if (link.what == tail_link::kind::add) {
      form.add = true;
    } else {
      (form.add ? form.after : form.before).push_back(link.function);
    }
  }
  return form;
}

/// PyTorch's [out, in, height, width] as [out, height, width, channels], zeros beyond `in`.
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

/// A plan and how much of the tail is in it.
struct planned_convolution {
  std::unique_ptr<library_operation> operation;
  std::size_t fused = 0;
  std::int64_t channels = 0;
  std::string why_not;  ///< why not the whole tail
};

/// With as much of the tail fused as the library takes.
planned_convolution plan(const cuda_program_builder& b, const network_layer& head,
                         const conv2d_layer& conv, std::span<const tail_link> tail) {
  planned_convolution result;
  const std::vector<std::int64_t> choices = channels_to_try(b, head.inputs[0], conv);
  for (std::size_t left = tail.size() + 1; left-- > 0;) {
    for (const std::int64_t channels : choices) {
      std::string why_not;
      const convolution_form form = form_of(b, head, conv, tail.first(left), channels);
      result.operation = b.library().plan(form, why_not);
      if (result.operation != nullptr) {
        result.fused = left;
        result.channels = channels;
        return result;
      }
      if (result.why_not.empty()) result.why_not = why_not;
    }
  }
  b.refuse(head, result.why_not);
}

}  // namespace

void lower(cuda_program_builder& b, const fused_layers& group, const conv2d_layer& conv) {
  const network_layer& head = b.layer(group.head);
  const conv_weights values = folded_weights(b.network(), b.weights(), group);
  const std::vector<tail_link> tail = tail_of(b.network(), group, !values.bias.empty());
  planned_convolution planned = plan(b, head, conv, tail);
  const auto fused = std::span(tail).first(planned.fused);
  const auto rest = std::span(tail).subspan(planned.fused);

  const std::int64_t in_channels = b.input_shape(head)[1];
  value_form wanted{tensor_layout::channels_last, b.element()};
  const value_form result_form = wanted;
  if (planned.channels != in_channels) wanted.padded_channels = planned.channels;
  std::vector<cuda_operand> operands{
      b.in_form(head.inputs[0], wanted, head).buffer,
      b.constant(with_channels_last(values.weight, conv, in_channels / conv.groups,
                                    planned.channels / conv.groups),
                 b.element())};
  for (const tail_link& link : fused) {
    if (link.what == tail_link::kind::bias) {
      operands.push_back(b.constant(values.bias, b.element()));
    } else if (link.what == tail_link::kind::add) {
      const network_layer& sum = b.layer(link.layer);
      operands.push_back(b.in_form(sum.inputs[1], result_form, sum).buffer);
    }
  }
  const cuda_value y = b.make_value(b.output_shape(head).elements(), result_form);
  operands.push_back(y.buffer);
  b.add_calls(std::move(planned.operation), {std::move(operands)}, head);
  if (rest.empty()) {
    b.set_output(group.last(), y);
    return;
  }
  note_tail(b, rest, planned.why_not);
  lower_tail(b, rest, {.value = y, .bias = values.bias, .may_overwrite = true}, group.last());
}

}  // namespace graphline
