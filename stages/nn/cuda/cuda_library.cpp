#include "stages/nn/cuda/cuda_library.hpp"

#include <fmt/format.h>

namespace graphline::nn {
namespace {

std::string steps(const std::vector<pointwise_layer>& layers) {
  std::string text;
  for (const pointwise_layer& layer : layers) {
    text += fmt::format("+{}", traits_of(layer.function).name);
    if (layer.alpha != 0 || layer.beta != 0) text += fmt::format(" {} {}", layer.alpha, layer.beta);
  }
  return text;
}

std::string text_of(const extent_pair& e) {
  return fmt::format("{}x{}", e[0], e[1]);
}

std::vector<std::size_t> in_bytes(const std::vector<std::int64_t>& elements, precision p) {
  std::vector<std::size_t> bytes;
  for (const std::int64_t count : elements) {
    bytes.push_back(static_cast<std::size_t>(count) * element_bytes(p));
  }
  return bytes;
}

}  // namespace

bool may_be_fused(const pointwise_layer& layer) {
  switch (layer.function) {
    case pointwise_function::clip:
    case pointwise_function::gelu_erf:
    case pointwise_function::gelu_tanh:
    case pointwise_function::hard_sigmoid:
    case pointwise_function::hard_swish:
    case pointwise_function::linear:
    case pointwise_function::relu:
    case pointwise_function::sigmoid:
    case pointwise_function::silu:
      return true;
    default:
      return false;
  }
}

std::string to_text(const convolution_form& form) {
  const conv2d_layer& conv = form.conv;
  return fmt::format(
      "conv2d {}x{}x{} to {}x{}, kernel {}, stride {}, padding {}{}, dilation {}, groups "
      "{}{}{}{}{}, "
      "{}{}",
      form.batch, form.in_channels, text_of(form.in), conv.out_channels, text_of(form.out),
      text_of(conv.kernel), text_of(conv.stride), text_of(conv.padding),
      conv.padding_after ? " and " + text_of(*conv.padding_after) : "", text_of(conv.dilation),
      conv.groups, conv.bias ? " +bias" : "", steps(form.before), form.add ? "+add" : "",
      steps(form.after), to_word(form.precision),
      form.layout == tensor_layout::row_major ? ", NCHW" : "");
}

std::string to_text(const product_form& form) {
  return fmt::format(
      "product {}x{}x{}, a{} {}, b{} {}, d {}, batch {} by {}, {}, {}{}{}{}{}, {}, aligned to {}, "
      "{}, {}",
      form.m, form.n, form.k, form.transpose_a ? " transposed" : "", form.a_leading,
      form.transpose_b ? " transposed" : "", form.b_leading, form.d_leading, form.batch,
      form.a_stride, form.b_stride, form.d_stride,
      form.scale == 1.0F ? "" : fmt::format(" *{}", form.scale), form.bias ? " +bias" : "",
      form.add ? "+add" : "", steps(form.activations), to_word(form.precision), form.alignment.a,
      form.alignment.b, form.alignment.d);
}

std::string to_text(const attention_form& form) {
  return fmt::format("attention {}x{}, {} heads of {}, {}", form.batch, form.tokens, form.heads,
                     form.depth, to_word(form.precision));
}

std::vector<std::size_t> operand_bytes(const convolution_form& form) {
  const conv2d_layer& conv = form.conv;
  const std::int64_t y = form.batch * conv.out_channels * form.out[0] * form.out[1];
  std::vector<std::int64_t> elements = {
      form.batch * form.in_channels * form.in[0] * form.in[1],
      conv.out_channels * (form.in_channels / conv.groups) * conv.kernel[0] * conv.kernel[1]};
  if (conv.bias) elements.push_back(conv.out_channels);
  if (form.add) elements.push_back(y);
  elements.push_back(y);
  return in_bytes(elements, form.precision);
}

std::vector<std::size_t> operand_bytes(const product_form& form) {
  // Elements spanned by a batch of matrices. A stride of 0 repeats a matrix.
  const auto stored = [&](bool transposed, std::int64_t rows, std::int64_t columns,
                          std::int64_t leading, std::int64_t stride) {
    if (transposed) std::swap(rows, columns);
    return (form.batch - 1) * stride + (rows - 1) * leading + columns;
  };
  std::vector<std::int64_t> elements = {
      stored(form.transpose_a, form.m, form.k, form.a_leading, form.a_stride),
      stored(form.transpose_b, form.k, form.n, form.b_leading, form.b_stride)};
  const std::int64_t d = stored(false, form.m, form.n, form.d_leading, form.d_stride);
  if (form.bias) elements.push_back(form.n);
  if (form.add) elements.push_back(d);
  elements.push_back(d);
  return in_bytes(elements, form.precision);
}

std::vector<std::size_t> operand_bytes(const attention_form& form) {
  const std::int64_t tokens = form.batch * form.tokens;
  const std::int64_t dim = form.heads * form.depth;
  const std::int64_t part = (tokens - 1) * 3 * dim + dim;
  return in_bytes({part, part, part, tokens * dim}, form.precision);
}

}  // namespace graphline::nn
