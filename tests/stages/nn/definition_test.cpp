// Messages about wrong networks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <tuple>

#include "stages/kinds.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::HasSubstr;

const shape image{1, 3, 112, 112};

std::string problems(const std::string& layers, const shape& input = image) {
  return problems_of(network_kind(), "layers:\n" + layers, {floats(input)});
}

/// Layers, their input and the expected messages.
struct wrong_layers {
  const char* layers;
  shape input;
  const char* said;
};

TEST(network_problems, are_reported_at_their_places) {
  const wrong_layers cases[] = {
      {"  - con2d: {out_channels: 8, kernel: 3}\n", image,
       "2:5: unknown layer 'con2d' (did you mean 'conv2d'?)\n"},
      {"  - conv2d: {out_channels: 512, kernel: 3, stride: 2, padding: 1, name: conv1}\n"
       "  - linear: {out_features: 10}\n",
       image,
       "3:5: linear expects [N, features] or [N, tokens, features] but layer 'conv1' gives "
       "[1, 512, 56, 56] (put a 'flatten' before it)\n"},
      {"  - linear: {out_features: 10}\n",
       {7},
       "2:5: linear expects [N, features] or [N, tokens, features] but the network's input gives "
       "[7]\n"},
      {"  - flatten\n  - conv2d: {out_channels: 8, kernel: 3, name: late}\n", image,
       "3:5: conv2d 'late' expects [N, C, H, W] but layer '0.flatten' gives [1, 37632]\n"},
      {"  - conv2d: {out_channels: 8, kernel: 9, padding: 1}\n",
       {1, 3, 6, 20},
       "2:39: conv2d has a kernel that covers 9x9, larger than the padded input of 8x22 (the "
       "network's input gives [1, 3, 6, 20])\n"},
      {"  - max_pool2d: {kernel: 3, dilation: 4}\n",
       {1, 3, 8, 8},
       "2:26: max_pool2d has a kernel that covers 9x9, larger than the padded input of 8x8 (the "
       "network's input gives [1, 3, 8, 8])\n"},
      {"  - conv2d: {out_channels: 8, kernel: [3, 4], padding: same}\n", image,
       "2:56: conv2d has the padding 'same', which takes a kernel that covers an odd number of "
       "elements, not 4\n"},
      {"  - conv2d: {out_channels: 8, kernel: 3, stride: [1, 2], padding: same}\n", image,
       "2:67: conv2d has the padding 'same', which takes a stride of 1\n"},
      {"  - conv2d: {out_channels: 8, kernel: 4, dilation: 2, padding: same}\n", image, ""},
      {"  - conv2d: {out_channels: 8, kernel: 1, groups: 2}\n", image,
       "2:50: conv2d cannot divide 3 input channels into 2 groups (the network's input gives "
       "[1, 3, 112, 112])\n"},
      {"  - conv2d: {out_channels: 8, kernel: 1, groups: 3}\n", image,
       "2:50: conv2d cannot divide 8 output channels into 3 groups\n"},
      {"  - conv2d: {out_channels: 3, kernel: 3, name: a}\n  - add: {from: input}\n", image,
       "3:17: add needs shapes that broadcast to one but reads layer 'a' of [1, 3, 110, 110], the "
       "network's input of [1, 3, 112, 112]\n"},
      {"  - relu: {name: a}\n  - gelu: {name: a}\n", image,
       "3:18: two layers are named 'a' (first on line 2)\n"},
      {"  - conv2d: {out_channels: 8, kernel: 1, name: layer1.0.conv1}\n", image, ""},
      {"  - relu: {name: stem}\n  - gelu: {reads: sten}\n", image,
       "3:19: no earlier layer is named 'sten' (did you mean 'stem'?)\n"},
      {"  - relu: {name: a}\n  - add: {from: b, reads: c}\n", image,
       "3:27: no earlier layer is named 'c' (known: input, a)\n"
       "3:17: no earlier layer is named 'b' (known: input, a)\n"},
      {"  - relu: {name: stem}\n  - conv2d: {out_channels: 8, kernel: 3}\n"
       "  - gelu: {reads: stem}\n",
       image,
       "3:5: nothing reads layer '1.conv2d': name it in 'reads' or 'from' of a later layer or in "
       "'outputs', or leave it out\n"},
      {"  - relu: {name: stem}\n  - gelu: {name: a}\n  - silu: {reads: stem}\n"
       "  - add: {from: a}\n",
       image, ""},
      {"  - scaled_dot_product_attention: {heads: 2}\n",
       {2, 5, 8},
       "2:5: scaled_dot_product_attention expects queries, keys and values after each other, "
       "[N, tokens, 3 dim], but the network's input gives [2, 5, 8]\n"},
      {"  - linear: {out_features: 24, name: qkv}\n"
       "  - scaled_dot_product_attention: {heads: 3, name: attn}\n",
       {2, 5, 8},
       "3:43: scaled_dot_product_attention 'attn' cannot divide 8 features into 3 heads (layer "
       "'qkv' gives [2, 5, 24])\n"},
      {"  - conv2d:\n    out_channels: 8\n    kernel: 3\n", image,
       "3:5: a layer has one key, its kind, found 'conv2d' and 'out_channels': indent its "
       "parameters, and start each layer with its own '-'\n"},
      {"  - max_pool2d: {kernel: [2, 2, 2]}\n", image,
       "2:26: max_pool2d takes one number or a pair [h, w] as 'kernel', found 3 numbers\n"},
      {"  - softmax: {dim: 4}\n", image,
       "2:20: softmax has no dimension 4: the network's input gives [1, 3, 112, 112], whose "
       "dimensions are -4 to 3\n"},
      {"  - avg_pool2d: {kernel: 2, padding: 2}\n", image,
       "2:38: avg_pool2d takes at most half the kernel as padding, found 2x2 for a kernel of "
       "2x2\n"},
      {"  - con2d\n  - gelu: {approximate: tan}\n  - linear: {}\n  - add: {from: nobody}\n", image,
       "2:5: unknown layer 'con2d' (did you mean 'conv2d'?)\n"
       "3:25: unknown value 'tan' for 'approximate' (did you mean 'tanh'?)\n"
       "4:5: layer 'linear' needs 'out_features' (whole number 1 to 2147483647)\n"
       "5:17: no earlier layer is named 'nobody' (known: input)\n"},
  };
  for (const auto& [layers, input, said] : cases) EXPECT_EQ(problems(layers, input), said);
}

TEST(network_problems, of_layers_that_rearrange_elements_are_reported_at_their_places) {
  const wrong_layers cases[] = {
      {"  - relu: {name: a}\n  - concat: {dim: 1, reads: [a, b]}\n", image,
       "3:33: no earlier layer is named 'b' (known: input, a)\n"},
      {"  - relu: {name: a}\n  - concat: {dim: 1, reads: a}\n", image,
       "3:29: concat takes two names or more in 'reads', found one\n"},
      {"  - relu: {name: a}\n  - concat: {dim: 4, reads: [a, input]}\n", image,
       "3:19: concat has no dimension 4: layer 'a' gives [1, 3, 112, 112], whose dimensions are -4 "
       "to 3\n"},
      {"  - max_pool2d: {kernel: 2, name: half}\n  - concat: {dim: 1, reads: [half, input]}\n",
       image,
       "3:5: concat cannot join layer 'half' of [1, 3, 56, 56] and the network's input of "
       "[1, 3, 112, 112] along dimension 1: they differ in dimension 2 and dimension 3\n"},
      {"  - flatten: {name: flat}\n  - concat: {dim: 1, reads: [flat, input]}\n",
       {1, 3, 2, 2},
       "3:5: concat cannot join layer 'flat' of [1, 12] and the network's input of [1, 3, 2, 2] "
       "along dimension 1: they differ in their number of dimensions\n"},
      {"  - concat: {dim: 1}\n", image,
       "2:5: layer 'concat' needs 'reads' (name or list of names)\n"},
      {"  - relu: {name: a}\n  - gelu: {reads: [a, input]}\n", image,
       "3:19: 'reads' of layer 'gelu' must be one name, found a list, which only 'concat' reads\n"},
      {"  - concat: {dim: 1, reads: []}\n", image,
       "2:29: concat takes two names or more in 'reads', found none\n"},
      {"  - slice: {dim: 1, start: 1, end: 4}\n", image,
       "2:36: slice takes elements from 1 to before 4 along dimension 1, where the network's input "
       "has 3\n"},
      {"  - slice: {dim: -3, start: -4}\n", image,
       "2:29: slice takes elements from -1 to before 3 along dimension 1, where the network's "
       "input "
       "has 3\n"},
      {"  - slice: {dim: 7, start: 1}\n",
       {5},
       "2:18: slice has no dimension 7: the network's input gives [5], whose dimensions are -1 to "
       "0\n"},
      {"  - reshape: {shape: [2, -1]}\n",
       {3, 5},
       "2:22: reshape cannot see the network's input of [3, 5] as [2, -1]: 15 elements are no "
       "multiple "
       "of 2\n"},
      {"  - reshape: {shape: [2, 7]}\n",
       {3, 5},
       "2:22: reshape cannot see the network's input of [3, 5] as [2, 7]: 15 elements are not "
       "14\n"},
      {"  - reshape: {shape: [-1, 5, -1]}\n",
       {3, 5},
       "2:22: reshape cannot see the network's input of [3, 5] as [-1, 5, -1]: only one extent may "
       "be -1\n"},
      {"  - permute: {dims: [0, 2]}\n",
       {3, 5, 7},
       "2:21: permute must name each dimension of [3, 5, 7] once (the network's input gives it)\n"},
      {"  - permute: {dims: [0, 2, -1]}\n",
       {3, 5, 7},
       "2:21: permute must name each dimension of [3, 5, 7] once (the network's input gives it)\n"},
      {"  - upsample: {scale_factor: 2, size: 4}\n", image,
       "2:5: upsample takes either a 'size' or a 'scale_factor'\n"},
      {"  - zero_pad2d: {padding: [1, 2]}\n", image,
       "2:27: zero_pad2d takes one number or [left, right, top, bottom] as 'padding', found 2 "
       "numbers\n"},
      {"  - zero_pad2d: {padding: 1}\n",
       {3, 5},
       "2:5: zero_pad2d expects [N, C, H, W] but the network's input gives [3, 5]\n"},
      {"  - upsample\n", image, "2:5: upsample takes either a 'size' or a 'scale_factor'\n"},
      {"  - upsample: {scale_factor: 2, align_corners: true}\n", image,
       "2:48: upsample takes 'align_corners' with 'mode: bilinear' alone\n"},
      {"  - upsample: {scale_factor: [1, 2, 3]}\n", image,
       "2:30: upsample takes one number or a pair [h, w] as 'scale_factor', found 3 numbers\n"},
      {"  - upsample: {scale_factor: 0.001}\n", image,
       "2:30: upsample makes a height or width of 0 elements (the network's input gives "
       "[1, 3, 112, 112]); it must be 1 to 65536\n"},
      {"  - upsample: {scale_factor: 1000}\n", image,
       "2:30: upsample makes a height or width of 112000 elements (the network's input gives "
       "[1, 3, 112, 112]); it must be 1 to 65536\n"},
      {"  - upsample: {size: 100000}\n", image, "2:22: 'size' must be 1 to 65536, found 100000\n"},
      {"  - upsample: {size: 4}\n",
       {3, 5},
       "2:5: upsample expects [N, C, H, W] but the network's input gives [3, 5]\n"},
      {"  - conv_transpose2d: {out_channels: 8, kernel: 3, output_padding: 1}\n", image,
       "2:68: conv_transpose2d takes less 'output_padding' than its stride of 1x1, found 1x1\n"},
      {"  - conv_transpose2d: {out_channels: 8, kernel: 3, groups: 2}\n", image,
       "2:60: conv_transpose2d cannot divide 3 input channels into 2 groups (the network's input "
       "gives [1, 3, 112, 112])\n"},
      {"  - conv_transpose2d: {out_channels: 8, kernel: 1, padding: 56}\n", image,
       "2:5: conv_transpose2d has more padding than result: the network's input gives "
       "[1, 3, 112, 112]\n"},
      {"  - slice: {dim: 1, end: 2, name: a}\n  - mul: {from: input}\n", image,
       "3:17: mul needs shapes that broadcast to one but reads layer 'a' of [1, 2, 112, 112], the "
       "network's input of [1, 3, 112, 112]\n"},
  };
  for (const auto& [layers, input, said] : cases) EXPECT_EQ(problems(layers, input), said);
}

TEST(network_problems, of_several_tensors_are_reported_at_their_places) {
  const std::pair<const char*, const char*> cases[] = {
      {"{layers: [relu: {name: a}, add: {from: y}], inputs: [x, y]}", ""},
      {"{layers: [relu: {name: a}, add: {from: y}], inputs: [x, y], outputs: a}",
       "1:28: nothing reads layer '1.add': name it in 'reads' or 'from' of a later layer or in "
       "'outputs', or leave it out\n"},
      {"{layers: [relu, gelu], inputs: [x, y]}",
       "1:36: nothing reads input 'y': name it in 'reads' or 'from' of a later layer or in "
       "'outputs', or leave it out\n"},
      {"{layers: [relu: {name: y}], inputs: [x, y]}",
       "1:24: an input and a layer are named 'y' (first on line 1)\n"
       "1:41: nothing reads input 'y': name it in 'reads' or 'from' of a later layer or in "
       "'outputs', or leave it out\n"},
      {"{layers: [relu, add: {from: input}], inputs: [x, y]}",
       "1:29: no earlier layer is named 'input' (known: x, y)\n"},
      {"{layers: [relu: {name: p3}, add: {from: y}], inputs: [x, y], outputs: [p3, p4]}",
       "1:76: no layer is named 'p4' (known: p3)\n"},
      {"{layers: [relu, add: {from: y}], inputs: [x, y], outputs: y}",
       "1:59: 'y' is an input of the network: 'outputs' names layers\n"},
      {"{layers: [relu, add: {from: y}], inputs: [x, y, x]}", "1:49: 'inputs' names 'x' twice\n"},
      {"{layers: [relu: {name: a}], inputs: [x, y], outputs: [a, a]}",
       "1:58: 'outputs' names 'a' twice\n"},
      {"{layers: [relu], inputs: []}", "1:26: 'inputs' must name at least one\n"},
      {"{layers: [relu], outputs: {a: b}}",
       "1:27: 'outputs' must be a name or a list of names, found a mapping\n"},
  };
  for (const auto& [yaml, said] : cases) {
    EXPECT_EQ(problems_of(network_kind(), yaml, {floats({2, 3}), floats({2, 3})}), said) << yaml;
  }
  EXPECT_THAT(problems_of(network_kind(), "{layers: [relu, add: {from: y}], inputs: [x, y]}",
                          {floats({2, 3}), {{2, 3}, dtype::int64}}),
              HasSubstr("reads float32, but its y is int64 [2, 3]"));
}

TEST(network_ports, are_named_by_the_arguments) {
  const auto ports = [](const std::string& yaml) {
    diagnostics out;
    const arguments values = read_arguments(network_kind(), yaml);
    const stage_ports made = network_kind().open(values, out).ports;
    EXPECT_FALSE(out.has_errors()) << out.render();
    std::string names;
    for (const port& p : made.inputs) names += p.name + " ";
    names += "->";
    for (const port& p : made.outputs) names += " " + p.name;
    return names;
  };
  EXPECT_EQ(ports("layers: [relu]"), "input -> output");
  EXPECT_EQ(ports("{layers: [relu], inputs: [c3, c4], outputs: p3}"), "c3 c4 -> p3");
}

TEST(network_problems, name_what_is_wrong) {
  const std::tuple<const char*, shape, const char*> cases[] = {
      {"  - conv2d: {out_channels: 8, kernal: 3}\n", image, "(did you mean 'kernel'?)"},
      {"  - conv2d: {out_channels: 8, kernel: 3, padding: sane}\n", image, "did you mean 'same'?"},
      {"  - max_pool2d: {kernel: 3, padding: same}\n", image, "'padding'"},  // no word of pools
      {"  - relu: {reads: later}\n  - relu: {name: later}\n", image,
       "2:19: no earlier layer is named 'later': it is this layer or a later one"},
      {"  - relu: {name: r, reads: r}\n", image,
       "2:28: no earlier layer is named 'r': it is this layer or a later one"},
      {"  - conv2d: {out_channels: 3, kernel: 1}\n  - add: {from: 0.conv2d}\n", image,
       "3:17: no earlier layer is named '0.conv2d': give it a 'name'"},
      {"  - interpolate\n", image, "unknown layer 'interpolate'; see 'graphline stages network'"},
      {"  - cat\n", image, "unknown layer 'cat'; see 'graphline stages network'"},
      {"  - scaled_dot_product_attention: {heads: 1}\n",
       {2, 6},
       "the network's input gives [2, 6]"},
      {"  - scaled_dot_product_attention\n", {2, 5, 24}, "needs 'heads'"},
      {"  - conv2d: {out_channels: 2147483647, kernel: 1}\n", image, "more than 2^44 elements"},
      {"  - conv2d: {out_channels: 8, kernel: 1, padding: 2147483647}\n", image,
       "more than 2^44 elements"},
      {"  - relu\n", {std::int64_t{1} << 40, std::int64_t{1} << 30}, "their product at most 2^44"},
      {"  - conv2d: {out_channels: 99999999999, kernel: 1}\n", image,
       "'out_channels' must be 1 to 2147483647"},
      {"  - [gelu]\n", image, "a layer must be a word such as 'gelu'"},
      {"  - linear: 8\n", image, "must be a mapping, found '8'"},
      {"  - flatten: {start_dim: -5}\n", image, "no dimension -5"},
  };
  for (const auto& [layers, input, part] : cases) {
    EXPECT_THAT(problems(layers, input), HasSubstr(part)) << layers;
  }
  const std::string rule = "cannot be the name of a layer: a name is made of letters";
  const std::string dots = "cannot name a layer: dots stand between words";
  const std::string number = "cannot name a layer: names that begin with a number are those of";
  const std::pair<std::string, std::string> names[] = {
      {"input", "'input' cannot name a layer: it means what the network reads"},
      {"\"7\"", number},
      {"0.relu", number},
      {".a", dots},
      {"a.", dots},
      {"a..b", dots},
      {".", rule},
      {"''", rule},
      {"'b/c d'", rule},
      {std::string(400, 'a'), rule}};
  for (const auto& [name, said] : names) {
    EXPECT_THAT(problems("  - relu: {name: " + name + "}\n"), HasSubstr(said)) << name;
  }
  EXPECT_EQ(problems("  - relu: {name: " + std::string(100, 'a') + "}\n"), "");
  EXPECT_THAT(problems_of(network_kind(), "layers: []", {floats(image)}),
              HasSubstr("at least one layer, found an empty list"));
  EXPECT_THAT(problems_of(network_kind(), "layers: gelu", {floats(image)}),
              HasSubstr("'layers' must be a list"));
}

TEST(network_problems, refuse_an_input_that_is_not_float32) {
  EXPECT_THAT(problems_of(network_kind(), "layers: [relu]", {{{2, 3}, dtype::float64}}),
              HasSubstr("reads float32, but its input is float64 [2, 3]"));
}

TEST(network_manual, lists_every_layer_with_its_parameters) {
  const std::string page = network_kind().manual();
  std::istringstream layers(
      "conv2d conv_transpose2d linear relu relu6 gelu sigmoid silu tanh hardsigmoid hardswish "
      "mish leaky_relu softmax batch_norm2d layer_norm scaled_dot_product_attention max_pool2d "
      "avg_pool2d adaptive_avg_pool2d upsample flatten reshape permute slice zero_pad2d concat add "
      "sub mul div");
  for (std::string layer; layers >> layer;) {
    EXPECT_THAT(page, HasSubstr(std::string("\n  ") + layer + ": "));
  }
  EXPECT_THAT(page, HasSubstr("count_include_pad: true or false, default true. "));
  EXPECT_THAT(page, HasSubstr("approximate: none | tanh, default none. "));
  EXPECT_THAT(page, HasSubstr("'reads'"));
}

}  // namespace

}  // namespace graphline::test
