// Kernel bodies, run on the CPU, in cases that networks do not cover.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "framework/base/clock.hpp"
#include "stages/nn/cuda/pointwise.cuh"
#include "stages/nn/cuda/sum.cuh"
#include "stages/nn/host/pointwise_loops.hpp"
#include "stages/nn/weights/float_conversion.hpp"
#include "tests/base/guarded.hpp"
#include "tests/stages/nn/cuda/cpu_kernels.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

template <class Element>
std::span<std::byte> bytes_of(std::vector<Element>& elements) {
  return std::as_writable_bytes(std::span(elements));
}

/// Runs a kernel from one float tensor to another, both at guard pages. With `shift` they are not
/// aligned for packs.
std::vector<float> run_floats(const kernel_form& form, const std::vector<float>& from,
                              std::size_t results, guard at, std::size_t shift = 0) {
  const guarded<float> read(from, at, shift);
  const guarded<float> written(results, at, shift);
  const std::array<void*, 2> operands{read.data(), written.data()};
  run_in_every_order(form, operands, {std::as_writable_bytes(written.span())});
  EXPECT_TRUE(written.alone());
  return written.values();
}

std::vector<float> transposed(const convert_form& form, const std::vector<float>& from) {
  std::vector<float> result;
  for (std::int64_t i = 0; i < form.batch; ++i) {
    for (std::int64_t column = 0; column < form.columns; ++column) {
      for (std::int64_t row = 0; row < form.padded_rows; ++row) {
        const auto at = static_cast<std::size_t>((i * form.rows + row) * form.columns + column);
        result.push_back(row < form.rows ? from[at] : 0.0F);
      }
    }
  }
  return result;
}

TEST(convert_kernel, transposes_matrices_of_every_size_with_and_without_padding) {
  for (const std::int64_t rows : {1, 3, 8, 17, 33, 70}) {
    for (const std::int64_t columns : {1, 2, 16, 31, 65}) {
      for (const std::int64_t padded : {rows, (rows + 7) / 8 * 8}) {
        const convert_form form{
            .batch = 3, .rows = rows, .columns = columns, .padded_rows = padded};
        const auto from = some_values(3 * rows * columns);
        const auto expected = transposed(form, from);
        for (const guard at : guards) {
          for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
            EXPECT_EQ(run_floats(form, from, expected.size(), at, shift), expected)
                << rows << " x " << columns << ", padded to " << padded << ", shifted by " << shift;
          }
        }
      }
    }
  }
}

TEST(convert_kernel, converts_as_weights_are_converted_on_the_host) {
  const auto from = some_values(1003);
  convert_form form{.rows = 1003, .padded_rows = 1003};
  for (const guard at : guards) {
    const guarded<float> read(from, at);
    const guarded<std::uint16_t> half(from.size(), at);
    const guarded<std::uint16_t> bfloat16(from.size(), at);
    form.to = dtype::float16;
    run_in_every_order(form, std::array<void*, 2>{read.data(), half.data()},
                       {std::as_writable_bytes(half.span())});
    form.to = dtype::bfloat16;
    run_in_every_order(form, std::array<void*, 2>{read.data(), bfloat16.data()},
                       {std::as_writable_bytes(bfloat16.span())});
    EXPECT_TRUE(half.alone() && bfloat16.alone());
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_EQ(half.span()[i], half_from_float(from[i])) << from[i];
      EXPECT_EQ(bfloat16.span()[i], bfloat16_from_float(from[i])) << from[i];
    }
  }
}

TEST(float_conversion, rounds_as_cuda_does) {
  const auto bits_of = [](const auto& element) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &element, sizeof bits);
    return bits;
  };
  std::mt19937 generator(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(generator()));
    if (std::isnan(value)) continue;
    ASSERT_EQ(half_from_float(value), bits_of(__float2half_rn(value))) << value;
    ASSERT_EQ(bfloat16_from_float(value), bits_of(__float2bfloat16_rn(value))) << value;
  }
}

/// clip(x, 0, infinity) of `count` elements.
pointwise_form relu_of(std::int64_t count) {
  const pointwise_layer relu{pointwise_function::clip, 0, std::numeric_limits<float>::infinity()};
  return {{.operands = 1, .steps = {{relu, {0}}}, .results = {1}},
          {{count}, {{1}, {1}}},
          {dtype::float32, dtype::float32}};
}

TEST(pointwise_kernel, works_in_place_and_on_what_is_not_aligned) {
  const auto values = some_values(24);
  for (const guard at : guards) {
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      const guarded<float> data(values, at, shift);
      run_in_every_order(relu_of(24), std::array<void*, 2>{data.data(), data.data()},
                         {std::as_writable_bytes(data.span())});
      EXPECT_TRUE(data.alone());
      for (std::size_t i = 0; i < 24; ++i) {
        EXPECT_EQ(data.span()[i], std::max(values[i], 0.0F)) << i;
      }
    }
  }
}

TEST(pointwise_kernel, propagates_nan) {
  std::vector<float> values = some_values(24);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run_floats(relu_of(24), values, 24, guard::behind)[5]));
}

/// Every function on operands of every type, in packs and single, compared with the host's loops.
TEST(pointwise_kernel, computes_each_function_as_the_host_does) {
  constexpr std::int64_t count = 40;
  for (int number = 0; number <= static_cast<int>(pointwise_function::where); ++number) {
    const auto function = static_cast<pointwise_function>(number);
    const pointwise_traits& traits = traits_of(function);
    const auto operands = static_cast<std::size_t>(traits.operands);
    pointwise_expression::step step{{function, 0.25F, 1.5F}, {}};
    for (std::uint16_t i = 0; i < operands; ++i) step.from[i] = i;
    const pointwise_expression expression{
        .operands = operands, .steps = {step}, .results = {operands}};
    const pointwise_space space{{count}, std::vector<std::vector<std::int64_t>>(operands + 1, {1})};
    std::vector<std::vector<float>> given;
    std::vector<const float*> read;
    for (std::size_t i = 0; i < operands; ++i) {
      given.push_back(some_values(count, static_cast<unsigned>(i) + 1));
      for (float& value : given.back()) value *= 3;
      read.push_back(given.back().data());
    }
    std::vector<float> expected(count);
    float* const written = expected.data();
    pointwise_loops(expression, space).run(read, std::span(&written, 1));

    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      std::vector<float> got(count + shift);
      std::vector<void*> pointers;
      for (const auto& values : given) pointers.push_back(const_cast<float*>(values.data()));
      pointers.push_back(got.data() + shift);
      run_in_every_order(
          pointwise_form{expression, space, std::vector<dtype>(operands + 1, dtype::float32)},
          pointers, {bytes_of(got)});
      for (std::size_t i = 0; i < count; ++i) {
        const float value = got[i + shift];
        if (std::isnan(expected[i])) {
          EXPECT_TRUE(std::isnan(value)) << traits.name << " of " << given[0][i];
        } else {
          EXPECT_NEAR(value, expected[i], 1e-5F * std::max(1.0F, std::abs(expected[i])))
              << traits.name << " of " << given[0][i];
        }
      }
    }
  }
}

TEST(pointwise_kernel, reads_integers_and_broadcasts_what_it_reads) {
  // [2, 3, 5] plus [3, 1]: x / 2 + y, x of each integer type, y twice.
  const pointwise_expression expression{.operands = 2,
                                        .steps = {{{pointwise_function::linear, 0.5F, 0}, {0}},
                                                  {{pointwise_function::mul}, {2, 1}},
                                                  {{pointwise_function::add}, {3, 2}}},
                                        .results = {4}};
  const pointwise_space space{{2, 3, 5}, {{15, 5, 1}, {0, 1, 0}, {15, 5, 1}}};
  const std::vector<float> y = some_values(3);
  const auto expect = [&]<class Integer>(dtype element, Integer) {
    std::vector<Integer> x(30);
    std::iota(x.begin(), x.end(), Integer{0});
    std::vector<float> result(30);
    run_in_every_order(pointwise_form{expression, space, {element, dtype::float32, dtype::float32}},
                       std::array<void*, 3>{x.data(), const_cast<float*>(y.data()), result.data()},
                       {bytes_of(result)});
    for (std::size_t i = 0; i < result.size(); ++i) {
      const float half = 0.5F * static_cast<float>(i);
      EXPECT_FLOAT_EQ(result[i], half * y[i / 5 % 3] + half);
    }
  };
  expect(dtype::int32, std::int32_t{});
  expect(dtype::int64, std::int64_t{});
  expect(dtype::uint8, std::uint8_t{});
}

TEST(pointwise_kernel, refuses_an_expression_too_large_for_a_kernel) {
  // More results with later readers than a kernel can keep.
  const auto expression_of = [](std::uint16_t results, std::uint16_t readers) {
    pointwise_expression expression{.operands = 1, .steps = {}, .results = {}};
    for (std::uint16_t i = 0; i < results; ++i) {
      expression.steps.push_back({{pointwise_function::linear, 1, 1}, {0}});
    }
    for (std::uint16_t i = 0; i < readers; ++i) {
      const auto reg = [](int number) { return static_cast<std::uint16_t>(number); };
      expression.steps.push_back(
          {{pointwise_function::where}, {reg(results + i), reg(1 + 2 * i), reg(2 + 2 * i)}});
    }
    expression.results = {expression.steps.size()};
    return pointwise_form{expression, {{4}, {{1}, {1}}}, {dtype::float32, dtype::float32}};
  };
  const std::array<void*, 2> nowhere{};
  EXPECT_NO_THROW(encoded(expression_of(18, 6), nowhere));
  EXPECT_THROW(encoded(expression_of(17, 7), nowhere), std::logic_error);
  EXPECT_THROW(encoded(expression_of(19, 6), nowhere), std::logic_error);
}

TEST(pool_kernel, propagates_nan) {
  std::vector<float> from = some_values(9);
  from[4] = std::numeric_limits<float>::quiet_NaN();
  for (const pooling method : {pooling::max, pooling::average}) {
    const pool_form form{.in = {3, 3},
                         .out = {1, 2},
                         .pool = {.method = method, .kernel = {3, 2}, .stride = {1, 1}}};
    for (const guard at : guards) {
      const auto result = run_floats(form, from, 2, at);
      EXPECT_TRUE(std::isnan(result[0]));
      EXPECT_TRUE(std::isnan(result[1]));
    }
  }
}

TEST(softmax_kernel, takes_minus_infinity_and_large_numbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t extent : {4, 100, 1000}) {
    std::vector<float> from(static_cast<std::size_t>(extent), -infinity);
    from[1] = 1e30F;
    from[2] = 1e30F;
    for (const guard at : guards) {
      const auto result =
          run_floats(softmax_form{.axis = {.extent = extent}}, from, from.size(), at);
      EXPECT_EQ(result[0], 0.0F);
      EXPECT_EQ(result[1], 0.5F);
      EXPECT_EQ(result[2], 0.5F);
      EXPECT_EQ(result[3], 0.0F);
    }
  }
}

TEST(softmax_kernel, reads_and_writes_rows_apart_from_each_other) {
  for (const std::int64_t extent : {4, 100, 1000}) {
    constexpr std::int64_t outer = 3;
    const std::int64_t pitch = extent + 5;
    const std::vector<float> from = some_values(outer * pitch);
    const auto all =
        run_floats(softmax_form{.axis = {.outer = outer, .extent = extent}, .pitch = pitch}, from,
                   from.size(), guard::behind);
    for (std::int64_t row = 0; row < outer; ++row) {
      const auto begin = from.begin() + row * pitch;
      const auto alone =
          run_floats(softmax_form{.axis = {.extent = extent}}, {begin, begin + extent},
                     static_cast<std::size_t>(extent), guard::behind);
      const auto found = all.begin() + row * pitch;
      EXPECT_EQ(std::vector<float>(found, found + extent), alone) << extent << ", row " << row;
    }
  }
}

TEST(softmax_kernel, gives_nan_for_infinity_and_for_minus_infinity_only) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t extent : {4, 100, 1000}) {
    std::vector<float> one_infinite = some_values(extent);
    one_infinite[2] = infinity;
    const std::vector<float> all_masked(one_infinite.size(), -infinity);
    for (const auto& from : {one_infinite, all_masked}) {
      for (const float share :
           run_floats(softmax_form{.axis = {.extent = extent}}, from, from.size(), guard::behind)) {
        EXPECT_TRUE(std::isnan(share)) << extent;
      }
    }
  }
}

/// Reduces the columns of [rows, 3].
std::vector<float> reduced_columns(reduce_layer::reduction function,
                                   const std::vector<float>& from) {
  const auto rows = static_cast<std::int64_t>(from.size() / 3);
  const reduce_form form{
      .function = function, .scale = 0.5F, .kept = {{3}, {{1}}}, .reduced = {{rows}, {{3}}}};
  return run_floats(form, from, 3, guard::behind);
}

TEST(reduce_kernel, reduces_few_and_many_elements) {
  using reduction = reduce_layer::reduction;
  for (const std::int64_t rows : {1, 5, 64, 700}) {
    // Products and sums of 1 and -1 are exact.
    std::vector<float> from(static_cast<std::size_t>(3 * rows));
    std::array<double, 3> sums{};
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = i % 7 == 3 ? -1.0F : 1.0F;
      sums[i % 3] += static_cast<double>(from[i]);
    }
    const auto sum = reduced_columns(reduction::sum, from);
    const auto product = reduced_columns(reduction::product, from);
    const auto most = reduced_columns(reduction::max, from);
    const auto least = reduced_columns(reduction::min, from);
    for (std::size_t column = 0; column < 3; ++column) {
      const auto negative =
          static_cast<std::int64_t>((static_cast<double>(rows) - sums[column]) / 2);
      EXPECT_EQ(static_cast<double>(sum[column]), 0.5 * sums[column]) << rows;
      EXPECT_EQ(product[column], negative % 2 == 0 ? 0.5F : -0.5F) << rows;
      EXPECT_EQ(most[column], negative < rows ? 0.5F : -0.5F) << rows;
      EXPECT_EQ(least[column], negative > 0 ? -0.5F : 0.5F) << rows;
    }
  }
}

TEST(reduce_kernel, propagates_nan) {
  using reduction = reduce_layer::reduction;
  for (const std::size_t rows : {std::size_t{4}, std::size_t{100}}) {
    for (const std::size_t row : {std::size_t{0}, rows - 1}) {
      std::vector<float> from(3 * rows, 1.0F);
      from[3 * row + 1] = std::numeric_limits<float>::quiet_NaN();
      for (const reduction function :
           {reduction::sum, reduction::product, reduction::max, reduction::min}) {
        const auto result = reduced_columns(function, from);
        EXPECT_TRUE(std::isnan(result[1])) << rows << ", row " << row;
        EXPECT_FALSE(std::isnan(result[0]) || std::isnan(result[2])) << rows << ", row " << row;
      }
    }
  }
}

TEST(sum_kernel, adds_up_every_element_once_for_every_count_and_alignment) {
  for (const std::int64_t count : {0, 1, 5, 255, 8191, 8192, 8193, 3 * 8192, 70'001}) {
    // Small integers, whose sums are exact.
    std::vector<float> from(static_cast<std::size_t>(count));
    double expected = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = static_cast<float>(i * 7 % 13) - 5.0F;
      expected += static_cast<double>(from[i]);
    }
    for (const sum_form form : {sum_form{count}, sum_form{count, 1}, sum_form{count, 3}}) {
      EXPECT_LE(pieces_of(form), form.most_pieces);
      for (const auto& [at, shift] : {std::pair{guard::before, 0U}, std::pair{guard::behind, 0U},
                                      std::pair{guard::before, 1U}, std::pair{guard::behind, 1U}}) {
        const guarded<float> read(from, at, shift);
        const guarded<float> pieces(static_cast<std::size_t>(pieces_of(form)), at);
        const guarded<float> sum(1, at);
        run_in_every_order(
            form, std::array<void*, 3>{read.data(), pieces.data(), sum.data()},
            {std::as_writable_bytes(pieces.span()), std::as_writable_bytes(sum.span())});
        EXPECT_TRUE(pieces.alone() && sum.alone());
        EXPECT_EQ(static_cast<double>(sum.span()[0]), expected)
            << count << ", shifted by " << shift;
      }
    }
  }
}

TEST(sum_kernel, has_at_most_as_many_pieces_as_a_block_loads_at_once) {
  EXPECT_EQ(pieces_of({4096 * 8192}), 4096);
  EXPECT_EQ(pieces_of({4096 * 8192 + 1}), 2049);  // of two rows each
  EXPECT_EQ(pieces_of({1'000'000'000}), 4070);    // of 30 rows each, 245,760 elements
}

TEST(spin_kernel, is_never_shorter_than_asked) {
  for (const nanoseconds wanted : {0, 1'000, 2'000'000}) {
    const nanoseconds begin = now();
    run_on_cpu(spin_form{wanted}, {});
    EXPECT_GE(now() - begin, wanted);
  }
}

TEST(arg_max_kernel, finds_the_first_greatest_element_of_rows_of_every_length) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 generator(1);
  for (const std::int64_t extent : {1, 2, 31, 33, 511, 512, 6625}) {
    const std::int64_t rows = 20;
    std::vector<float> from(static_cast<std::size_t>(rows * extent));
    for (float& value : from) value = static_cast<float>(generator() % 40) - 60;  // many are equal
    for (int i = 0; i < 5; ++i) from[generator() % from.size()] = nan;
    std::vector<std::int64_t> expected;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto begin = from.begin() + row * extent;
      const auto first_nan =
          std::find_if(begin, begin + extent, [](float value) { return std::isnan(value); });
      const auto found =
          first_nan != begin + extent ? first_nan : std::max_element(begin, begin + extent);
      expected.push_back(found - begin);
    }
    std::vector<std::int64_t> indices(expected.size());
    std::vector<float> values(expected.size());
    run_in_every_order(
        top_k_form{.indices = dtype::int64, .axis = {.outer = rows, .extent = extent}},
        std::array<void*, 3>{from.data(), indices.data(), values.data()},
        {bytes_of(indices), bytes_of(values)});
    EXPECT_EQ(indices, expected) << extent;
    for (std::size_t row = 0; row < expected.size(); ++row) {
      const float value =
          from[row * static_cast<std::size_t>(extent) + static_cast<std::size_t>(expected[row])];
      EXPECT_TRUE(values[row] == value || (std::isnan(values[row]) && std::isnan(value)));
    }
  }
}

TEST(layer_norm_kernel, keeps_a_small_variance_beside_a_large_mean) {
  for (const std::int64_t extent : {2, 40, 1000}) {
    std::vector<float> x(static_cast<std::size_t>(extent));
    std::vector<float> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected[i] = i % 2 == 0 ? -1.0F : 1.0F;
      x[i] = 8192.0F + expected[i];  // sums of these are whole numbers that a float holds
    }
    std::vector<float> weight(x.size(), 1.0F);
    std::vector<float> bias(x.size(), 0.0F);
    std::vector<float> y(x.size());
    run_in_every_order(layer_norm_form{.extent = extent, .eps = 0},
                       std::array<void*, 4>{x.data(), weight.data(), bias.data(), y.data()},
                       {bytes_of(y)});
    EXPECT_EQ(y, expected) << extent;
  }
}

}  // namespace

}  // namespace graphline::test
