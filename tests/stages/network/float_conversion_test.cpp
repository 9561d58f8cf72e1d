#include "stages/weights/float_conversion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "tests/base/guarded.hpp"

namespace graphline::test {

namespace {

TEST(float_conversion, gives_back_every_half_and_bfloat16) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    const float half = float_from_half(narrow);
    const float bfloat16 = float_from_bfloat16(narrow);
    if (!std::isnan(half)) {
      EXPECT_EQ(half_from_float(half), narrow);
    } else {
      EXPECT_TRUE(std::isnan(float_from_half(half_from_float(half))));
    }
    if (!std::isnan(bfloat16)) {
      EXPECT_EQ(bfloat16_from_float(bfloat16), narrow);
    } else {
      EXPECT_TRUE(std::isnan(float_from_bfloat16(bfloat16_from_float(bfloat16))));
    }
  }
}

TEST(float_conversion, rounds_to_the_nearest_and_to_the_even_of_two) {
  EXPECT_EQ(half_from_float(1.0F + 0x1p-11F), 0x3c00);      // halfway, down to even
  EXPECT_EQ(half_from_float(1.0F + 3 * 0x1p-11F), 0x3c02);  // halfway, up to even
  EXPECT_EQ(half_from_float(1.0F + 0x1p-11F + 0x1p-20F), 0x3c01);
  EXPECT_EQ(half_from_float(0x1p-25F), 0x0000);  // halfway to the least subnormal
  EXPECT_EQ(half_from_float(0x1.8p-25F), 0x0001);
  EXPECT_EQ(half_from_float(-0x1p-24F), 0x8001);
  EXPECT_EQ(half_from_float(65519.0F), 0x7bff);
  EXPECT_EQ(half_from_float(65520.0F), 0x7c00);
  EXPECT_EQ(bfloat16_from_float(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.0F + 3 * 0x1p-8F), 0x3f82);
  EXPECT_EQ(bfloat16_from_float(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(float_conversion, touches_nothing_beside_its_operands) {
  for (const auto& [element, size] : {std::pair("F16", 2), {"BF16", 2}, {"F32", 4}, {"F64", 8}}) {
    for (const std::size_t count : {1U, 3U, 7U, 8U, 17U, 1003U}) {
      for (const guard at : guards) {
        const guarded<std::byte> from(count * static_cast<std::size_t>(size), at);
        std::memset(from.data(), 0, from.span().size());
        const guarded<float> to(count, at);
        float_conversion(element)(from.data(), to.span());
        EXPECT_EQ(to.values(), std::vector<float>(count, 0.0F)) << element;
        EXPECT_TRUE(to.alone()) << element;
      }
    }
  }
}

}  // namespace

}  // namespace graphline::test
