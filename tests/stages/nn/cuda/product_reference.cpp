#include "tests/stages/nn/cuda/product_reference.hpp"

#include <algorithm>
#include <random>

namespace graphline::nn {

product_form packed_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  product_form form;
  form.m = m;
  form.n = n;
  form.k = k;
  form.a_leading = k;
  form.b_leading = n;
  form.d_leading = n;
  return form;
}

std::vector<product_form> sample_products() {
  std::vector<product_form> forms;
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      product_form form = packed_product(3, 4, 5);
      form.transpose_a = a;
      form.transpose_b = b;
      form.a_leading = a ? 3 : 5;
      form.b_leading = b ? 5 : 4;
      forms.push_back(form);
      form.a_leading += 2;
      form.b_leading += 1;
      form.d_leading += 3;
      form.bias = true;
      forms.push_back(form);
    }
  }
  forms.push_back(packed_product(1, 64, 32));
  forms.push_back(packed_product(64, 1, 32));
  forms.push_back(packed_product(8, 8, 1));
  forms.push_back(packed_product(33, 128, 256));
  forms.back().activations = {pointwise_layer{pointwise_function::relu}};
  forms.push_back(forms.back());
  forms.back().bias = true;

  forms.push_back(forms.back());
  forms.back().scale = 0.5F;

  forms.push_back(forms.back());
  forms.back().add = true;

  product_form batch = packed_product(8, 16, 32);
  batch.batch = 4;
  batch.a_stride = 8 * 32;
  batch.b_stride = 0;  // one for all
  batch.d_stride = 8 * 16 + 4;
  forms.push_back(batch);
  batch.a_stride = 0;
  batch.b_stride = 32 * 16;
  batch.bias = true;
  forms.push_back(batch);
  batch.bias = false;
  batch.add = true;
  forms.push_back(batch);
  return forms;
}

std::vector<numbers> whole_operands(std::span<const std::size_t> bytes) {
  std::mt19937 generator(1);
  std::vector<numbers> operands;
  for (const std::size_t size : bytes) {
    numbers operand(size / sizeof(float));
    for (float& value : operand) value = static_cast<float>(generator() % 7) - 3;
    operands.push_back(std::move(operand));
  }
  operands.back().assign(operands.back().size(), 0);
  return operands;
}

numbers expected_product(const product_form& f, const std::vector<numbers>& operands) {
  const auto at = [](const numbers& v, std::int64_t i) {
    return v.at(static_cast<std::size_t>(i));
  };
  numbers d(operands.back().size());
  for (std::int64_t i = 0; i < f.batch; ++i) {
    for (std::int64_t row = 0; row < f.m; ++row) {
      for (std::int64_t column = 0; column < f.n; ++column) {
        float sum = 0;
        for (std::int64_t j = 0; j < f.k; ++j) {
          const std::int64_t a = f.transpose_a ? j * f.a_leading + row : row * f.a_leading + j;
          const std::int64_t b =
              f.transpose_b ? column * f.b_leading + j : j * f.b_leading + column;
          sum += at(operands[0], i * f.a_stride + a) * at(operands[1], i * f.b_stride + b);
        }
        sum = sum * f.scale + (f.bias ? at(operands[2], column) : 0);
        const std::int64_t to = i * f.d_stride + row * f.d_leading + column;
        if (f.add) sum += at(operands[operands.size() - 2], to);
        if (!f.activations.empty()) sum = std::max(sum, 0.0F);
        d[static_cast<std::size_t>(to)] = sum;
      }
    }
  }
  return d;
}

}  // namespace graphline::nn
