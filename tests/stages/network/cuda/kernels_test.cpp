// The kernels' bodies, carried out on the CPU, where the networks do not reach.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "stages/cuda/sum.cuh"
#include "stages/weights/float_conversion.hpp"
#include "tests/base/guarded.hpp"
#include "tests/stages/network/cuda/cpu_kernels.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

template <class Element>
std::span<std::byte> bytes_of(std::vector<Element>& elements) {
  return std::as_writable_bytes(std::span(elements));
}

/// Runs a kernel from one tensor of floats to another, both at protected pages. With `shift` packs
/// are not aligned.
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

TEST(pointwise_kernel, works_in_place_and_on_what_is_not_aligned) {
  const pointwise_form form{.count = 24, .before = {activation::relu}};
  const auto values = some_values(24);
  for (const guard at : guards) {
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      const guarded<float> data(values, at, shift);
      run_in_every_order(form, std::array<void*, 2>{data.data(), data.data()},
                         {std::as_writable_bytes(data.span())});
      EXPECT_TRUE(data.alone());
      for (std::size_t i = 0; i < 24; ++i) {
        EXPECT_EQ(data.span()[i], std::max(values[i], 0.0F)) << i;
      }
    }
  }
}

TEST(pool_kernel, keeps_what_is_not_a_number) {
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
      const auto result = run_floats(softmax_form{.extent = extent}, from, from.size(), at);
      EXPECT_EQ(result[0], 0.0F);
      EXPECT_EQ(result[1], 0.5F);
      EXPECT_EQ(result[2], 0.5F);
      EXPECT_EQ(result[3], 0.0F);
    }
  }
}

TEST(softmax_kernel, gives_no_numbers_for_infinity_nor_for_minus_infinity_alone) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t extent : {4, 100, 1000}) {
    std::vector<float> one_infinite = some_values(extent);
    one_infinite[2] = infinity;
    const std::vector<float> all_masked(one_infinite.size(), -infinity);
    for (const auto& from : {one_infinite, all_masked}) {
      for (const float share :
           run_floats(softmax_form{.extent = extent}, from, from.size(), guard::behind)) {
        EXPECT_TRUE(std::isnan(share)) << extent;
      }
    }
  }
}

TEST(sum_kernel, adds_up_every_element_once_for_every_count_and_alignment) {
  for (const std::int64_t count : {0, 1, 5, 255, 8191, 8192, 8193, 3 * 8192, 70'001}) {
    // Small whole numbers, of which every sum is exact.
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

TEST(sum_kernel, has_no_more_pieces_than_a_block_reads_at_once) {
  EXPECT_EQ(pieces_of({4096 * 8192}), 4096);
  EXPECT_EQ(pieces_of({4096 * 8192 + 1}), 2049);  // of two rows each
  EXPECT_EQ(pieces_of({1'000'000'000}), 4070);    // of 30 rows each, 245,760 elements
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
