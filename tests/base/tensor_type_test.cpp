#include "framework/base/tensor_type.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

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
  std::vector<std::size_t> sizes;
  for (const dtype type : {dtype::float64, dtype::int64, dtype::float32, dtype::int32,
                           dtype::float16, dtype::bfloat16, dtype::uint8}) {
    sizes.push_back(size_of(type));
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 8, 4, 4, 2, 2, 1}));
}

TEST(shape, counts_elements_up_to_two_to_the_62_of_no_negative_extents) {
  constexpr std::int64_t half = std::int64_t{1} << 31;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(shape({2, 3, 4}).checked_elements(), 24);
  EXPECT_EQ(shape({2, 3, 4}).elements(), 24);
  EXPECT_EQ(shape().checked_elements(), 1);
  EXPECT_EQ(shape({7, 0}).checked_elements(), 0);
  EXPECT_EQ(shape({most, most, 0}).checked_elements(), 0);
  EXPECT_EQ(shape({most, most, 0}).elements(), 0);
  EXPECT_EQ(shape({half, half}).checked_elements(), half * half);
  for (const shape& none :
       {shape({half, half, 2}), shape({most}), shape({2, -3}), shape({0, -1})}) {
    EXPECT_FALSE(none.checked_elements()) << to_string(none);
  }
}

TEST(shape, counts_no_elements_of_huge_extents_beside_none) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(shape({huge, huge, 0}).elements(), 0);
  EXPECT_EQ(shape({0, huge, huge}).elements(), 0);
  EXPECT_EQ((tensor_type{{huge, huge, 0}, dtype::float64}).bytes(), 0U);
  EXPECT_EQ(shape({huge, huge}).elements(), std::numeric_limits<std::int64_t>::max());
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
