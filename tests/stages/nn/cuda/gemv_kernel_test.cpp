// The kernel's body, run on the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "stages/nn/cuda/gemv.cuh"
#include "tests/base/guarded.hpp"
#include "tests/stages/nn/cuda/cpu_kernels.hpp"
#include "tests/stages/product_samples.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

/// Samples whose operands have the product's rank, as forms require.
std::vector<gemv_case> cases_of_one_rank() {
  std::vector<gemv_case> cases = gemv_cases();
  std::erase_if(cases, [](const gemv_case& c) {
    return c.a.rank() != c.y.rank() || c.x.rank() != c.y.rank();
  });
  return cases;
}

TEST(gemv_kernel, computes_every_row_of_every_shape_on_aligned_and_other_operands) {
  for (const gemv_case& wanted : cases_of_one_rank()) {
    const auto a = some_values(wanted.a.elements(), 1);
    const auto x = some_values(wanted.x.elements(), 2);
    for (const guard at : guards) {
      for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
        const guarded<float> rows(a, at, shift);
        const guarded<float> vectors(x, at, shift);
        guarded<float> y(static_cast<std::size_t>(wanted.y.elements()), at);
        run_in_every_order(collapse_rows(gemv_of(wanted.a, wanted.x, wanted.y)),
                           std::array<void*, 3>{rows.data(), vectors.data(), y.data()},
                           {std::as_writable_bytes(y.span())});
        EXPECT_TRUE(y.alone());
        EXPECT_LE(difference(y.values(), gemv_reference(wanted, a, x)), 1e-5)
            << to_string(wanted.a) << " x " << to_string(wanted.x) << ", shifted by " << shift;
      }
    }
  }
}

TEST(gemv_kernel, computes_long_rows_in_pieces) {
  for (const gemv_case& wanted :
       {gemv_case{{1, 200000}, {200000, 1}, {1, 1}},
        gemv_case{{3, 2, 5000}, {3, 5000, 1}, {3, 2, 1}},
        gemv_case{{2, 1, 9, 1539}, {1, 2, 1539, 1}, {2, 2, 9, 1}},
        gemv_case{{1, 65537}, {65537, 1}, {1, 1}}, gemv_case{{3, 65537}, {65537, 1}, {3, 1}},
        gemv_case{{20, 4099}, {4099, 1}, {20, 1}}, gemv_case{{20, 65644}, {65644, 1}, {20, 1}},
        gemv_case{{9, 1, 4099}, {9, 4099, 1}, {9, 1, 1}}}) {
    const auto a = some_values(wanted.a.elements(), 1);
    const auto x = some_values(wanted.x.elements(), 2);
    const auto split = split_long_rows(collapse_rows(gemv_of(wanted.a, wanted.x, wanted.y)));
    ASSERT_TRUE(split) << to_string(wanted.a);
    EXPECT_EQ(split->pieces.k * split->sums.k - split->pieces.cut, wanted.a[wanted.a.rank() - 1]);
    EXPECT_LT(split->pieces.cut, 32);  // what only some rows of a stack have is added up slowly
    EXPECT_GE(split->pieces.k, 512);
    EXPECT_GE(split->piece_count(), wanted.y.elements() * 2);
    std::vector<float> sums(static_cast<std::size_t>(split->piece_count()),
                            std::numeric_limits<float>::quiet_NaN());
    std::vector<float> y(static_cast<std::size_t>(wanted.y.elements()));
    auto* const rows = const_cast<float*>(a.data());
    auto* const vectors = const_cast<float*>(x.data());
    run_in_every_order(split->pieces, std::array<void*, 3>{rows, vectors, sums.data()},
                       {std::as_writable_bytes(std::span(sums))});
    run_in_every_order(split->sums, std::array<void*, 3>{sums.data(), nullptr, y.data()},
                       {std::as_writable_bytes(std::span(y))});
    EXPECT_LE(difference(y, gemv_reference(wanted, a, x)), 1e-5) << to_string(wanted.a);
  }
}

TEST(gemv_kernel, leaves_rows_whole_that_are_many_or_short) {
  EXPECT_FALSE(split_long_rows({.k = 4096, .axes = {{16384, 4096, 0}}}));
  EXPECT_FALSE(split_long_rows({.k = 1000, .axes = {{8, 1000, 0}}}));
}

TEST(gemv_kernel, divides_by_multiplication) {
  constexpr std::uint32_t most = (std::uint32_t{1} << 31) - 1;
  std::minstd_rand random(1);
  std::vector<std::uint32_t> numbers = {1, 2, 3, 7, 8, 25, 641, 1 << 16, most - 1, most};
  for (int i = 0; i < 200; ++i) {
    numbers.push_back(std::max(1U, static_cast<std::uint32_t>(random()) >> random() % 31));
  }
  for (const std::uint32_t d : numbers) {
    const divisor by(d);
    EXPECT_EQ(by.quotient(0), 0U);
    for (const std::uint32_t n : numbers) ASSERT_EQ(by.quotient(n), n / d) << n << " / " << d;
    for (std::uint32_t k = 1; k <= most / d && k < 1000; ++k) {
      ASSERT_EQ(by.quotient(k * d), k) << k << " * " << d;
      ASSERT_EQ(by.quotient(k * d - 1), k - 1) << k << " * " << d << " - 1";
    }
  }
}

TEST(gemv_kernel, refuses_more_stacks_than_a_kernel_numbers) {
  const std::int64_t many = std::int64_t{1} << 35;
  EXPECT_THROW(stacks_of({.k = 1, .axes = {{many, 1, 0}}}), std::length_error);
}

TEST(gemv_kernel, stacks_rows_that_share_a_vector) {
  const row_stacks stacks = stacks_of(
      collapse_rows(gemv_of({600, 200, 8, 1, 64}, {600, 1, 8, 64, 1}, {600, 200, 8, 1, 1})));
  EXPECT_EQ(stacks.count, 3);
  EXPECT_EQ(stacks.stacked, 1);
  EXPECT_EQ(stacks.full, 8);
  EXPECT_EQ(stacks.longer, 0);
  EXPECT_EQ(stacks.items, 600 * 25 * 8);
  EXPECT_EQ(stacks.axes[1].extent.number, 25);
  EXPECT_EQ(stacks.apart.x, 0);
  EXPECT_EQ(stacks.apart.y, 25 * 8);
}

}  // namespace

}  // namespace graphline::test
