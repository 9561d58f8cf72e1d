#include "framework/base/tensor_type.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace graphline {
namespace {

TEST(dtype, has_a_name_that_leads_back_to_it) {
  EXPECT_EQ(dtype_names().size(), 7U);
  for (const std::string& name : dtype_names()) {
    const auto type = dtype_from(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(to_string(*type), name);
  }
  EXPECT_FALSE(dtype_from("float"));
}

TEST(dtype, knows_its_size) {
  EXPECT_EQ(size_of(dtype::float64), 8U);
  EXPECT_EQ(size_of(dtype::float32), 4U);
  EXPECT_EQ(size_of(dtype::bfloat16), 2U);
  EXPECT_EQ(size_of(dtype::float16), 2U);
  EXPECT_EQ(size_of(dtype::int64), 8U);
  EXPECT_EQ(size_of(dtype::int32), 4U);
  EXPECT_EQ(size_of(dtype::uint8), 1U);
}

TEST(shape, counts_elements) {
  EXPECT_EQ(shape({2, 3, 4}).checked_elements(), 24);
  EXPECT_EQ(shape({2, 3, 4}).elements(), 24);
  EXPECT_EQ(shape().checked_elements(), 1);
  EXPECT_EQ(shape({7, 0}).checked_elements(), 0);
}

TEST(shape, refuses_negative_extents) {
  EXPECT_FALSE(shape({2, -3}).checked_elements());
  EXPECT_FALSE(shape({0, -1}).checked_elements());
}

TEST(shape, refuses_products_beyond_two_to_the_62) {
  constexpr std::int64_t half = std::int64_t{1} << 31;
  EXPECT_EQ(shape({half, half}).checked_elements(), half * half);
  EXPECT_FALSE(shape({half, half, 2}).checked_elements());
  EXPECT_FALSE(shape({std::numeric_limits<std::int64_t>::max()}).checked_elements());
}

TEST(shape, is_empty_with_one_extent_of_zero_however_large_the_others) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(shape({most, most, 0}).checked_elements(), 0);
}

TEST(shape, is_written_in_brackets) {
  EXPECT_EQ(to_string(shape{32, 3, 224, 224}), "[32, 3, 224, 224]");
  EXPECT_EQ(to_string(shape{}), "[]");
}

TEST(tensor_type, names_element_and_shape_and_knows_its_bytes) {
  const tensor_type type{{1, 3, 4}, dtype::float16};
  EXPECT_EQ(to_string(type), "float16 [1, 3, 4]");
  EXPECT_EQ(type.bytes(), 24U);
}

}  // namespace
}  // namespace graphline
