#include <fmt/format.h>

#include "stages/network/layers/layers.hpp"

namespace graphline {

namespace {

/// Zeros that keep height and width. PyTorch adds one more below and to the right where they cannot
/// be shared out evenly, which no padding of ours can say.
extent_pair same_padding(const conv2d_layer& conv, layer_problems& problems) {
  extent_pair padding{};
  if (conv.stride != extent_pair{1, 1}) {
    problems.report_at("padding", "has the padding 'same', which takes a stride of 1");
    return padding;
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t covered = conv.dilation[axis] * (conv.kernel[axis] - 1);
    if (covered % 2 != 0) {
      problems.report_at("padding",
                         fmt::format("has the padding 'same', which takes a kernel that covers an "
                                     "odd number of elements, not {}",
                                     covered + 1));
      return {};
    }
    padding[axis] = covered / 2;
  }
  return padding;
}

conv2d_layer read(const arguments& values, layer_problems& problems) {
  conv2d_layer conv{.out_channels = values.integer("out_channels"),
                    .kernel = read_pair(values, "kernel", problems),
                    .stride = read_pair(values, "stride", problems),
                    .dilation = read_pair(values, "dilation", problems),
                    .groups = values.integer("groups"),
                    .bias = values.boolean("bias")};
  conv.padding = values.holds_text("padding") ? same_padding(conv, problems)
                                              : read_pair(values, "padding", problems);
  return conv;
}

parameter padding_parameter() {
  auto result = pair_parameter(
      "padding", "Zeros added on each side; same: as many as keep height and width.", "0", 0);
  result.choices = {"same"};
  return result;
}

bool check_groups(const conv2d_layer& conv, const layer_input& input, layer_problems& problems) {
  const std::int64_t in_channels = input.shape[1];
  if (in_channels % conv.groups != 0) {
    problems.report_at("groups",
                       fmt::format("cannot divide {} input channels into {} groups ({} gives {})",
                                   in_channels, conv.groups, input.giver, to_string(input.shape)));
    return false;
  }
  if (conv.out_channels % conv.groups != 0) {
    problems.report_at("groups", fmt::format("cannot divide {} output channels into {} groups",
                                             conv.out_channels, conv.groups));
    return false;
  }
  return true;
}

layer_shape infer(const conv2d_layer& conv, std::span<const layer_input> inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  if (!expect_images(input, problems)) return {};
  const bool divides = check_groups(conv, input, problems);
  const auto size = window_output(input, conv.kernel, conv.stride, conv.padding, conv.dilation,
                                  /*ceil=*/false, problems);
  if (!divides || !size) return {};

  const shape weight{conv.out_channels, input.shape[1] / conv.groups, conv.kernel[0],
                     conv.kernel[1]};
  return product_shape({input.shape[0], conv.out_channels, (*size)[0], (*size)[1]}, weight, input,
                       conv.bias, problems);
}

}  // namespace

layer_kind conv2d_kind() {
  return make_layer_kind<conv2d_layer>(
      "conv2d", "2-D convolution of [N, C, H, W]",
      {size_parameter("out_channels", "Channels of the output."),
       kernel_parameter("Height and width of the kernel: a number or [h, w]."),
       pair_parameter("stride", "Step of the kernel.", "1", 1),
       padding_parameter(),
       pair_parameter("dilation", "Distance between kernel elements.", "1", 1),
       {.name = "groups",
        .help = "Groups of channels convolved apart; as many as input channels is depthwise.",
        .default_value = "1",
        .minimum = 1,
        .maximum = largest_size},
       {.name = "bias",
        .type = parameter_type::boolean,
        .help = "Add a learned number per channel.",
        .default_value = "true"}},
      read, infer);
}

}  // namespace graphline
