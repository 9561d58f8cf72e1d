#include "tests/stages/nn/cuda/reference_library.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "stages/nn/weights/float_conversion.hpp"

namespace graphline::test {

using namespace nn;

namespace {

/// Elements in memory as numbers.
class elements {
 public:
  elements(void* data, precision p) : data_(static_cast<std::byte*>(data)), precision_(p) {}

  double operator[](std::int64_t i) const {
    if (element_bytes(precision_) == sizeof(float)) return static_cast<double>(read<float>(i));
    const auto bits = read<std::uint16_t>(i);
    return static_cast<double>(precision_ == precision::float16 ? float_from_half(bits)
                                                                : float_from_bfloat16(bits));
  }

  void set(std::int64_t i, double value) const {
    const auto rounded = static_cast<float>(value);
    if (element_bytes(precision_) == sizeof(float)) return write(i, rounded);
    write(i, precision_ == precision::float16 ? half_from_float(rounded)
                                              : bfloat16_from_float(rounded));
  }

 private:
  template <class T>
  T read(std::int64_t i) const {
    T value;
    std::memcpy(&value, data_ + static_cast<std::size_t>(i) * sizeof value, sizeof value);
    return value;
  }
  template <class T>
  void write(std::int64_t i, T value) const {
    std::memcpy(data_ + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  }

  std::byte* data_;
  precision precision_;
};

double activated(double x, const std::vector<pointwise_layer>& layers) {
  for (const auto& [function, a, b] : layers) {
    const auto alpha = static_cast<double>(a);
    const auto beta = static_cast<double>(b);
    switch (function) {
      case pointwise_function::clip:
        x = std::clamp(x, alpha, beta);
        break;
      case pointwise_function::gelu_erf:
        x = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
        break;
      case pointwise_function::gelu_tanh:
        x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
        break;
      case pointwise_function::hard_sigmoid:
        x = std::clamp(alpha * x + beta, 0.0, 1.0);
        break;
      case pointwise_function::hard_swish:
        x = x * std::clamp(x + 3, 0.0, 6.0) / 6;
        break;
      case pointwise_function::linear:
        x = alpha * x + beta;
        break;
      case pointwise_function::relu:
        x = std::max(x, 0.0);
        break;
      case pointwise_function::sigmoid:
        x = 1 / (1 + std::exp(-x));
        break;
      case pointwise_function::silu:
        x = x / (1 + std::exp(-x));
        break;
      default:
        throw std::logic_error("a function that is not fused");
    }
  }
  return x;
}

template <class Form>
class reference_operation final : public library_operation {
 public:
  explicit reference_operation(Form form, plan_speed speed = {.tensor_cores = true},
                               std::size_t workspace = 64)
      : form_(std::move(form)), speed_(speed), workspace_(workspace) {}

  std::string choice() const override { return "reference loops"; }
  std::size_t workspace_bytes() const override { return workspace_; }
  plan_speed speed() const override { return speed_; }

  void enqueue(void*, std::span<void* const> operands, void* scratch) override {
    if (scratch == nullptr) throw std::logic_error("no workspace");
    std::memset(scratch, 0xee, workspace_);
    compute(form_, operands);
  }

 private:
  static void compute(const convolution_form& form, std::span<void* const> operands);
  static void compute(const product_form& form, std::span<void* const> operands);
  static void compute(const attention_form& form, std::span<void* const> operands);

  Form form_;
  plan_speed speed_;
  std::size_t workspace_;
};

/// Returns the position of [image, channel, row, column] in a packed tensor.
std::int64_t position_of(std::int64_t image, std::int64_t channel, std::int64_t row,
                         std::int64_t column, std::int64_t channels, const extent_pair& extents,
                         tensor_layout layout) {
  if (layout == tensor_layout::row_major) {
    return ((image * channels + channel) * extents[0] + row) * extents[1] + column;
  }
  return ((image * extents[0] + row) * extents[1] + column) * channels + channel;
}

/// The convolution at one output position of channel `out`.
double convolved(const convolution_form& form, const elements& x, const elements& w,
                 std::int64_t image, std::int64_t row, std::int64_t column, std::int64_t out) {
  const conv2d_layer& conv = form.conv;
  const std::int64_t depth = form.in_channels / conv.groups;
  const std::int64_t first = out / (conv.out_channels / conv.groups) * depth;
  double sum = 0;
  for (std::int64_t ky = 0; ky < conv.kernel[0]; ++ky) {
    const std::int64_t y = row * conv.stride[0] - conv.padding[0] + ky * conv.dilation[0];
    if (y < 0 || y >= form.in[0]) continue;
    for (std::int64_t kx = 0; kx < conv.kernel[1]; ++kx) {
      const std::int64_t at = column * conv.stride[1] - conv.padding[1] + kx * conv.dilation[1];
      if (at < 0 || at >= form.in[1]) continue;
      for (std::int64_t c = 0; c < depth; ++c) {
        sum += x[position_of(image, first + c, y, at, form.in_channels, form.in, form.layout)] *
               w[position_of(out, c, ky, kx, depth, conv.kernel, form.layout)];
      }
    }
  }
  return sum;
}

template <class Form>
void reference_operation<Form>::compute(const convolution_form& form,
                                        std::span<void* const> operands) {
  std::size_t next = 0;
  const auto take = [&] { return elements(operands[next++], form.precision); };
  const elements x = take();
  const elements w = take();
  const elements bias = form.conv.bias ? take() : x;
  const elements added = form.add ? take() : x;
  const elements y = take();
  for (std::int64_t image = 0; image < form.batch; ++image) {
    for (std::int64_t row = 0; row < form.out[0]; ++row) {
      for (std::int64_t column = 0; column < form.out[1]; ++column) {
        for (std::int64_t out = 0; out < form.conv.out_channels; ++out) {
          const std::int64_t i =
              position_of(image, out, row, column, form.conv.out_channels, form.out, form.layout);
          double value = convolved(form, x, w, image, row, column, out);
          if (form.conv.bias) value += bias[out];
          value = activated(value, form.before);
          if (form.add) value = activated(value + added[i], form.after);
          y.set(i, value);
        }
      }
    }
  }
}

template <class Form>
void reference_operation<Form>::compute(const product_form& form, std::span<void* const> operands) {
  std::size_t next = 0;
  const auto take = [&] { return elements(operands[next++], form.precision); };
  const elements a = take();
  const elements b = take();
  const elements bias = form.bias ? take() : a;
  const elements added = form.add ? take() : a;
  const elements d = take();
  for (std::int64_t i = 0; i < form.batch; ++i) {
    for (std::int64_t row = 0; row < form.m; ++row) {
      for (std::int64_t column = 0; column < form.n; ++column) {
        double sum = 0;
        for (std::int64_t j = 0; j < form.k; ++j) {
          const std::int64_t at_a =
              form.transpose_a ? j * form.a_leading + row : row * form.a_leading + j;
          const std::int64_t at_b =
              form.transpose_b ? column * form.b_leading + j : j * form.b_leading + column;
          sum += a[i * form.a_stride + at_a] * b[i * form.b_stride + at_b];
        }
        sum = sum * static_cast<double>(form.scale) + (form.bias ? bias[column] : 0.0);
        const std::int64_t to = i * form.d_stride + row * form.d_leading + column;
        if (form.add) sum += added[to];
        d.set(to, activated(sum, form.activations));
      }
    }
  }
}

template <class Form>
void reference_operation<Form>::compute(const attention_form& form,
                                        std::span<void* const> operands) {
  const elements q(operands[0], form.precision);
  const elements k(operands[1], form.precision);
  const elements v(operands[2], form.precision);
  const elements y(operands[3], form.precision);
  const std::int64_t dim = form.heads * form.depth;
  std::vector<double> weights(static_cast<std::size_t>(form.tokens));
  for (std::int64_t i = 0; i < form.batch * form.heads * form.tokens; ++i) {
    const std::int64_t image = i / (form.heads * form.tokens);
    const std::int64_t head = i / form.tokens % form.heads * form.depth;
    const std::int64_t token = image * form.tokens + i % form.tokens;
    double sum = 0;
    for (std::int64_t other = 0; other < form.tokens; ++other) {
      double score = 0;
      for (std::int64_t d = head; d < head + form.depth; ++d) {
        score += q[token * 3 * dim + d] * k[(image * form.tokens + other) * 3 * dim + d];
      }
      double& weight = weights[static_cast<std::size_t>(other)];
      weight = std::exp(score / std::sqrt(static_cast<double>(form.depth)));
      sum += weight;
    }
    for (std::int64_t d = head; d < head + form.depth; ++d) {
      double mean = 0;
      for (std::int64_t other = 0; other < form.tokens; ++other) {
        mean += weights[static_cast<std::size_t>(other)] / sum *
                v[(image * form.tokens + other) * 3 * dim + d];
      }
      y.set(token * dim + d, mean);
    }
  }
}

}  // namespace

std::unique_ptr<library_operation> reference_library::plan(const convolution_form& form,
                                                           std::string& why_not) {
  if (takes_convolution && !takes_convolution(form)) {
    why_not = "the rule refuses this convolution";
    return nullptr;
  }
  convolutions.push_back(form);
  return std::make_unique<reference_operation<convolution_form>>(
      form, speed_of_convolution ? speed_of_convolution(form) : plan_speed{.tensor_cores = true},
      workspace_of ? workspace_of(form) : 64);
}

std::unique_ptr<library_operation> reference_library::plan(const product_form& form,
                                                           std::string& why_not) {
  if (takes_product && !takes_product(form)) {
    why_not = "the rule refuses this product";
    return nullptr;
  }
  products.push_back(form);
  return std::make_unique<reference_operation<product_form>>(
      form, speed_of_product ? speed_of_product(form) : plan_speed{.tensor_cores = true});
}

std::unique_ptr<library_operation> reference_library::plan(const attention_form& form,
                                                           std::string& why_not) {
  if (takes_attention && !takes_attention(form)) {
    why_not = "the rule refuses attention";
    return nullptr;
  }
  attentions.push_back(form);
  return std::make_unique<reference_operation<attention_form>>(
      form, speed_of_attention ? speed_of_attention(form) : plan_speed{.tensor_cores = true});
}

}  // namespace graphline::test
