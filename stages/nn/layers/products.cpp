#include <cmath>

#include "stages/nn/layers/layers.hpp"

namespace graphline::nn {
namespace {

/// Returns the padding that keeps height and width. Reports odd padding: PyTorch pads one more
/// below and to the right, which `padding` cannot express.
extent_pair same_padding(const conv2d_layer& conv, layer_problems& problems) {
  extent_pair padding{};
  if (conv.stride != extent_pair{1, 1}) {
    problems.refuse_at("padding", "has the padding 'same', which takes a stride of 1");
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t covered = conv.dilation[axis] * (conv.kernel[axis] - 1);
    if (covered % 2 != 0) {
      problems.refuse_at("padding",
                         "has the padding 'same', which takes a kernel that covers an odd number "
                         "of elements, not {}",
                         covered + 1);
    }
    padding[axis] = covered / 2;
  }
  return padding;
}

/// Reads a convolution without its padding.
template <class Convolution>
Convolution read_convolution(const arguments& values, layer_problems& problems) {
  return {.out_channels = values.integer("out_channels"),
          .kernel = read_pair(values, "kernel", problems),
          .stride = read_pair(values, "stride", problems),
          .dilation = read_pair(values, "dilation", problems),
          .groups = values.integer("groups"),
          .bias = values.boolean("bias")};
}

conv2d_layer read_conv2d(const arguments& values, layer_problems& problems) {
  auto conv = read_convolution<conv2d_layer>(values, problems);
  conv.padding = values.holds_text("padding") ? same_padding(conv, problems)
                                              : read_pair(values, "padding", problems);
  return conv;
}

conv_transpose2d_layer read_conv_transpose2d(const arguments& values, layer_problems& problems) {
  auto conv = read_convolution<conv_transpose2d_layer>(values, problems);
  conv.padding = read_pair(values, "padding", problems);
  const extent_pair more = read_pair(values, "output_padding", problems);
  // PyTorch also accepts an output_padding of at least the stride if it is below the dilation;
  // oneDNN refuses it.
  if (more[0] >= conv.stride[0] || more[1] >= conv.stride[1]) {
    problems.report_at("output_padding",
                       "takes less 'output_padding' than its stride of {}x{}, found {}x{}",
                       conv.stride[0], conv.stride[1], more[0], more[1]);
  }
  conv.padding_after = {conv.padding[0] - more[0], conv.padding[1] - more[1]};
  return conv;
}

parameter groups_parameter() {
  return {.name = "groups",
          .help = "Groups of channels convolved separately; one per input channel is depthwise.",
          .default_value = "1",
          .minimum = 1,
          .maximum = largest_size};
}

parameter padding_parameter() {
  auto result =
      pair_parameter("padding", "Zeros added on each side; same: keep height and width.", "0", 0);
  result.choices = {"same"};
  return result;
}

template <class Convolution>
void check_groups(const Convolution& conv, const layer_input& input, layer_problems& problems) {
  const std::int64_t in_channels = input.shape[1];
  if (in_channels % conv.groups != 0) {
    problems.report_at("groups", "cannot divide {} input channels into {} groups ({} gives {})",
                       in_channels, conv.groups, input.giver, to_string(input.shape));
  } else if (conv.out_channels % conv.groups != 0) {
    problems.report_at("groups", "cannot divide {} output channels into {} groups",
                       conv.out_channels, conv.groups);
  }
}

/// Returns the FLOPs of a step per hidden unit, apart from the products. A sigmoid counts as 4.
std::int64_t unit_flops(const recurrent_layer& of) {
  switch (of.cell) {
    case recurrent_cell::lstm:
      // 3 sigmoids, 2 tanh, f * c + i * g and o * tanh(c).
      return 3 * 4 + 2 + 3 + 1 + (of.peepholes ? 3 * 2 : 0);
    case recurrent_cell::gru:
      // 2 sigmoids, a tanh, the reset gate, and (1 - z) * n + z * h.
      return 2 * 4 + 1 + (of.reset_after ? 1 + 2 : 1) + 4;
    case recurrent_cell::sigmoid:
      return 4;
    default:
      return 1;
  }
}

}  // namespace

layer_shape infer(const conv2d_layer& conv, layer_inputs inputs, layer_problems& problems) {
  const layer_input& input = inputs[0];
  expect_images(input, problems);
  check_groups(conv, input, problems);
  const pool2d_layer window{.kernel = conv.kernel,
                            .stride = conv.stride,
                            .padding = conv.padding,
                            .padding_after = conv.padding_after,
                            .dilation = conv.dilation};
  const auto [height, width] = window_output(input, window, problems);
  const shape weight{conv.out_channels, input.shape[1] / conv.groups, conv.kernel[0],
                     conv.kernel[1]};
  return product_shape({input.shape[0], conv.out_channels, height, width}, weight, conv.bias);
}

layer_shape infer(const conv_transpose2d_layer& conv, layer_inputs inputs,
                  layer_problems& problems) {
  const layer_input& input = inputs[0];
  expect_images(input, problems);
  check_groups(conv, input, problems);
  extent_pair size{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (-conv.padding_after[axis] >= conv.stride[axis]) {
      problems.refuse("adds {} elements at the end, which are to be fewer than its stride of {}",
                      -conv.padding_after[axis], conv.stride[axis]);
    }
    size[axis] = count_of({input.shape[axis + 2] - 1, conv.stride[axis]}) - conv.padding[axis] -
                 conv.padding_after[axis] + conv.dilation[axis] * (conv.kernel[axis] - 1) + 1;
  }
  if (size[0] < 1 || size[1] < 1) {
    problems.refuse("has more padding than result: {} gives {}", input.giver,
                    to_string(input.shape));
  }
  const shape weight{input.shape[1], conv.out_channels / conv.groups, conv.kernel[0],
                     conv.kernel[1]};
  layer_shape result{.output = {input.shape[0], conv.out_channels, size[0], size[1]}};
  const std::int64_t macs = count_of({count_of(input.shape), weight[1], weight[2], weight[3]});
  // One of `skipped` kernel elements contributes to a given output element.
  const auto fan_in =
      static_cast<double>(count_of({weight[0] / conv.groups, weight[2], weight[3]}));
  const double bound = std::sqrt(1.0 / fan_in);
  const double skipped = static_cast<double>(conv.stride[0]) * static_cast<double>(conv.stride[1]);
  result.weights = {
      {"weight", weight, {initial_value::rule::scaled, std::sqrt(3.0 * skipped) * bound}}};
  if (conv.bias) {
    result.weights.push_back({"bias", {conv.out_channels}, {initial_value::rule::uniform, bound}});
  }
  result.cost = {.macs = macs, .flops = 2 * macs + (conv.bias ? count_of(result.output) : 0)};
  return result;
}

layer_shape infer(const matmul_layer& matmul, layer_inputs inputs, layer_problems& problems) {
  const shape& a = matmul.a ? matmul.a->extents : inputs[0].shape;
  const shape& b = matmul.b ? matmul.b->extents : inputs[1].shape;
  const auto leading = [](const shape& s) {
    return shape(std::vector<std::int64_t>(s.extents().begin(), s.extents().end() - 2));
  };
  std::string why = "they need two dimensions or more";
  if (a.rank() >= 2 && b.rank() >= 2) {
    const std::int64_t columns = a[a.rank() - 1];
    const std::int64_t rows = b[b.rank() - 2];
    const shape outer[] = {leading(a), leading(b)};
    const auto batch = broadcast(outer);
    if (columns == rows && batch) {
      std::vector<std::int64_t> extents = batch->extents();
      extents.push_back(a[a.rank() - 2]);
      extents.push_back(b[b.rank() - 1]);
      layer_shape result{.output = shape(std::move(extents))};
      const std::int64_t macs = count_of({count_of(result.output), columns});
      result.cost = {.macs = macs, .flops = 2 * macs};
      return result;
    }
    why = columns == rows ? "their leading dimensions do not broadcast"
                          : fmt::format("{} columns do not fit {} rows", columns, rows);
  }
  problems.refuse("cannot multiply {} of {} by {} of {}: {}", inputs[0].giver, to_string(a),
                  inputs[1].giver, to_string(b), why);
}

layer_shape infer(const linear_layer& linear, layer_inputs inputs, layer_problems& problems) {
  const layer_input& input = inputs[0];
  const std::size_t rank = input.shape.rank();
  if (rank < 2 || (rank > 3 && !linear.any_rank)) {
    problems.refuse("expects [N, features] or [N, tokens, features] but {} gives {}{}", input.giver,
                    to_string(input.shape), rank > 3 ? " (put a 'flatten' before it)" : "");
  }
  return product_shape(with_extent(input.shape, rank - 1, linear.out_features),
                       {linear.out_features, input.shape[rank - 1]}, linear.bias);
}

layer_shape infer(const attention_layer& attention, layer_inputs inputs, layer_problems& problems) {
  const layer_input& input = inputs[0];
  if (input.shape.rank() != 3 || input.shape[2] % 3 != 0) {
    problems.refuse(
        "expects queries, keys and values after each other, [N, tokens, 3 dim], but {} "
        "gives {}",
        input.giver, to_string(input.shape));
  }
  const std::int64_t batch = input.shape[0];
  const std::int64_t tokens = input.shape[1];
  const std::int64_t dim = input.shape[2] / 3;
  if (dim % attention.heads != 0) {
    problems.refuse_at("heads", "cannot divide {} features into {} heads ({} gives {})", dim,
                       attention.heads, input.giver, to_string(input.shape));
  }

  layer_shape result{.output = {batch, tokens, dim}};
  const std::int64_t scores = count_of({batch, attention.heads, tokens, tokens});
  const std::int64_t macs = count_of({2, batch, tokens, tokens, dim});
  // Two products; per score, a multiplication by the scale and five FLOPs of softmax. Scores are
  // intermediate values and count no bytes.
  result.cost = {.macs = macs, .flops = 2 * macs + 6 * scores};
  return result;
}

layer_shape infer(const recurrent_layer& recurrent, layer_inputs inputs, layer_problems& problems) {
  const shape& x = inputs[0].shape;
  const std::int64_t directions = recurrent.directions();
  const std::int64_t hidden = recurrent.hidden;
  const std::int64_t gates = recurrent.gates() * hidden;
  const shape state{directions, x[1], hidden};
  for (const layer_input& given : inputs.subspan(1)) {
    if (given.shape == state) continue;
    problems.refuse("expects states of {} but {} gives {}", to_string(state), given.giver,
                    to_string(given.shape));
  }
  const initial_value initial{initial_value::rule::uniform,
                              1.0 / std::sqrt(static_cast<double>(hidden))};
  layer_shape result{.output = {x[0], x[1], directions * hidden},
                     .further = std::vector(inputs.size() - 1, state),
                     .weights = {{"weight_hh", {directions, gates, hidden}, initial}}};
  if (recurrent.reset_after) result.weights.push_back({"bias_hh", {directions, hidden}, initial});
  if (recurrent.peepholes) {
    result.weights.push_back({"weight_peephole", {directions, 3 * hidden}, initial});
  }
  const std::int64_t units = count_of(result.output);
  const std::int64_t macs = count_of({units, gates});
  result.cost = {.macs = macs, .flops = 2 * macs + count_of({units, unit_flops(recurrent)})};
  return result;
}

std::vector<layer_kind> product_kinds() {
  return {
      {"conv2d",
       "2-D convolution of [N, C, H, W]",
       {size_parameter("out_channels", "Channels of the output."),
        kernel_parameter("Height and width of the kernel: a number or [h, w]."),
        pair_parameter("stride", "Step of the kernel.", "1", 1), padding_parameter(),
        pair_parameter("dilation", "Distance between kernel elements.", "1", 1), groups_parameter(),
        boolean_parameter("bias", "Add a learned number per channel.", "true")},
       read_conv2d},
      {"conv_transpose2d",
       "Transposed 2-D convolution of [N, C, H, W]",
       {size_parameter("out_channels", "Channels of the output."),
        kernel_parameter("Height and width of the kernel: a number or [h, w]."),
        pair_parameter("stride", "Distance of input elements in the output.", "1", 1),
        pair_parameter("padding", "Rows and columns cropped from each side of the output.", "0", 0),
        pair_parameter("output_padding",
                       "Rows added below and columns added at the right, fewer than the stride.",
                       "0", 0),
        pair_parameter("dilation", "Distance between kernel elements.", "1", 1), groups_parameter(),
        boolean_parameter("bias", "Add a learned number per channel.", "true")},
       read_conv_transpose2d},
      {"linear",
       "Fully connected layer on [N, features] or [N, tokens, features]",
       {size_parameter("out_features", "Features of the output."),
        boolean_parameter("bias", "Add a learned number per feature.", "true")},
       [](const arguments& values, layer_problems&) {
         return linear_layer{.out_features = values.integer("out_features"),
                             .bias = values.boolean("bias")};
       }},
      {"scaled_dot_product_attention",
       "softmax(q k^T / sqrt(dim / heads)) v per head, of packed [N, tokens, q k v]",
       {size_parameter("heads",
                       "Heads, each of dim / heads adjacent features of q, of k and of v.")},
       [](const arguments& values, layer_problems&) {
         return attention_layer{.heads = values.integer("heads")};
       }}};
}

}  // namespace graphline::nn
